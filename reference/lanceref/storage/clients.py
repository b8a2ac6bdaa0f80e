"""Clients of object stores: made from a URI and storage options, one for each pair of them.

Options are split by what they are for: the store, its HTTP client, or retries. What they do not say
the environment may: `AWS_ALLOW_HTTP` and the like for the HTTP client, obstore looks for the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from lanceref.core.errors import DataRefused
from lanceref.storage.protocol import StoreOptions
from lanceref.storage.uri import Location, message_of

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Client


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLIENT_KEYS = _names(
    """
    allow_http allow_invalid_certificates connect_timeout default_content_type http1_only
    http2_keep_alive_interval http2_keep_alive_timeout http2_keep_alive_while_idle http2_only
    pool_idle_timeout pool_max_idle_per_host proxy_ca_certificate proxy_excludes proxy_url
    randomize_addresses read_timeout timeout user_agent
    """
)
"""Options of the HTTP client, the same for every store."""

S3_KEYS = _names(
    """
    access_key_id checksum_algorithm conditional_put container_authorization_token_file
    container_credentials_full_uri container_credentials_relative_uri copy_if_not_exists
    default_region disable_tagging endpoint endpoint_url endpoint_url_s3 imdsv1_fallback
    metadata_endpoint region request_payer role_arn role_session_name s3_express
    secret_access_key server_side_encryption session_token skip_signature sse_bucket_key_enabled
    sse_customer_key_base64 sse_kms_key_id  token unsigned_payload
    virtual_hosted_style_request web_identity_token_file
    """
)
"""Options of S3, without their prefix."""

GCS_KEYS = _names(
    """
    application_credentials base_url bearer_token service_account service_account_key
    service_account_path skip_signature
    """
)
"""Options of Google Cloud Storage, without their prefix."""

AZURE_KEYS = _names(
    """
    access_key account_key account_name authority_host authority_id client_id client_secret
    disable_tagging endpoint fabric_cluster_identifier fabric_session_token
    fabric_token_service_url fabric_workload_host federated_token_file msi_endpoint
    msi_resource_id object_id sas_key sas_token skip_signature storage_account_key
    storage_account_name storage_sas_token tenant_id token use_azure_cli use_emulator
    use_fabric_endpoint
    """
)
"""Options of Azure, without their prefix."""

FULL_KEYS = _names("endpoint_url_s3 storage_account_key storage_account_name storage_sas_token")
"""Those of them that a client only knows with their prefix."""

TABLE = {
    "s3": ("S3Store", "aws_", S3_KEYS),
    "s3+ddb": ("S3Store", "aws_", S3_KEYS),
    "gs": ("GCSStore", "google_", GCS_KEYS),
    "az": ("AzureStore", "azure_", AZURE_KEYS),
    "abfss": ("AzureStore", "azure_", AZURE_KEYS),
}
"""Class of obstore, prefix of the options and their names, by scheme."""


def client_of(location: Location, options: StoreOptions) -> Client:
    """Return the client of a bucket; the same for the same options.

    Memory is another one each time, but for `shared-memory`, which a process has one of for each
    name. Raises DataRefused for an option that means nothing.
    """
    from obstore.store import MemoryStore

    if location.scheme == "memory":
        return MemoryStore()
    own = options.own
    if location.scheme in TABLE:
        prefix = TABLE[location.scheme][1]
        own = {key.lower().removeprefix(prefix): value for key, value in own.items()}
        environment = {key.lower(): value for key, value in os.environ.items()}
        names = (key for key in CLIENT_KEYS if prefix + key in environment)
        own = {**{name: environment[prefix + name] for name in names}, **own}
    return _client(location.scheme, location.authority, frozenset(own.items()))


@lru_cache(maxsize=64)
def _client(scheme: str, authority: str, options: frozenset[tuple[str, str]]) -> Client:
    from obstore import store
    from obstore.exceptions import BaseError

    if scheme == "shared-memory":
        return _shared_memory(authority)
    name, prefix, keys = TABLE[scheme]
    config, client, retry = split_options(dict(options), prefix, keys)
    if scheme == "abfss":  # abfss://container@account.dfs.core.windows.net
        authority, _, host = authority.partition("@")
        if host:
            config.setdefault("account_name", host.partition(".")[0])
    try:
        return getattr(store, name)(
            authority, config=config, client_options=client, retry_config=retry
        )
    except BaseError as error:
        message = message_of(error)
        raise DataRefused(f"{scheme}://{authority}: {message}") from type(error)(message)


@cache
def _shared_memory(authority: str) -> Client:
    from obstore.store import MemoryStore

    return MemoryStore()


def split_options(
    options: Mapping[str, str], prefix: str, keys: frozenset[str]
) -> tuple[dict[str, str], dict[str, str], dict[str, int | timedelta]]:
    """Return what of the options is for the store, for its client, and for retries."""
    config: dict[str, str] = {}
    client: dict[str, str] = {}
    for key, value in options.items():
        name = key.lower().removeprefix(prefix)
        if name in keys:
            config[prefix + name if name in FULL_KEYS else name] = value
        elif name in CLIENT_KEYS or name == "request_timeout":
            client["timeout" if name == "request_timeout" else name] = value
    tries = options.get("client_max_retries", "")
    seconds = options.get("client_retry_timeout", "")
    retry: dict[str, int | timedelta] = {}  # one that is no number is as if it were not there
    if tries.isdecimal():
        retry["max_retries"] = int(tries)
    if seconds.isdecimal():
        retry["retry_timeout"] = timedelta(seconds=int(seconds))
    return config, client, retry
