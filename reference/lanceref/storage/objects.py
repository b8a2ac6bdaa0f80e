"""Object store: a prefix of a bucket, reached through `obstore`.

Reads are ranges; many of one object go out together. An object larger than a part is written in
parts and exists once all are there. Writing an object only where none is is one conditional
request: the store decides who was first.

A client is made from a URI and storage options, one for each pair of them. Options are split by
what they are for: the store, its HTTP client, or retries. What they do not say the environment may:
`AWS_ALLOW_HTTP` and the like for the HTTP client, obstore looks for the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar

from lanceref.core.cursor import IOStats
from lanceref.core.errors import DataRefused, ExtraMissing, NotFound, StoreFailed, Unconditional
from lanceref.storage.protocol import Entry, StoreOptions
from lanceref.storage.uri import Location, message_of, parse_uri

try:
    import obstore
    from obstore import store
    from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, NotSupportedError
except ImportError as error:
    raise ExtraMissing(
        "object stores need the package obstore: pip install 'lance-conformance[objectstore]'"
    ) from error

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
    if location.scheme == "memory":
        return store.MemoryStore()
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
    return store.MemoryStore()


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


PART_BYTES = 10 << 20
"""Bytes of a part of an upload: ten thousand of them, the most there may be, are 97 GiB."""

PARTS_AT_ONCE = 4
"""Parts of one object that are under way together."""


@contextmanager
def _refusals(path: str) -> Iterator[None]:
    """Raise what the store refuses as errors of ours: NotFound, StoreFailed."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise NotFound(f"Not found: {path}") from _clean(error)
    except (BaseError, OSError, NotImplementedError) as error:
        cause = _clean(error)
        raise StoreFailed(f"{path}: {cause}") from cause


E = TypeVar("E", bound=Exception)


def _clean(error: E) -> E:
    """Return an error of the same class without details, or a password of the endpoint."""
    return type(error)(message_of(error))


class ObjectSource:
    """A `Source`: an object read in ranges."""

    def __init__(self, client: Client, path: str, stats: IOStats) -> None:
        self._client, self.path, self.stats = client, path, stats
        with _refusals(path):
            self.size: int = obstore.head(client, path)["size"]
        stats.read_iops += 1

    def read(self, offset: int, size: int) -> memoryview:
        return self.read_many([offset], [size])[0]

    def read_many(self, offsets: Sequence[int], sizes: Sequence[int]) -> list[memoryview]:
        pairs = zip(offsets, sizes, strict=True)
        spans = [(offset, min(offset + size, self.size)) for offset, size in pairs]
        wanted = [(start, end) for start, end in spans if start < end]
        starts, ends = ([span[side] for span in wanted] for side in (0, 1))
        with _refusals(self.path):
            parts = obstore.get_ranges(self._client, self.path, starts=starts, ends=ends)
        self.stats.count_reads(len(parts), sum(map(len, parts)))
        read = iter(parts)
        return [memoryview(next(read) if start < end else b"") for start, end in spans]

    def close(self) -> None:
        """Do nothing: an object needs no release."""


class ObjectSink:
    """A `Sink`: an object that is uploaded; it exists once the sink is closed."""

    def __init__(self, client: Client, path: str, stats: IOStats) -> None:
        self._path, self.stats = path, stats
        self._out = obstore.open_writer(
            client, path, buffer_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE
        )
        self._open = True
        self.position = 0

    def write(self, data: bytes | memoryview) -> None:
        with _refusals(self._path):
            self._out.write(memoryview(data).cast("B"))
        self.position += len(data)

    def close(self) -> None:
        """Make the object visible; a second call does nothing."""
        if self._open:
            self._open = False
            with _refusals(self._path):
                self._out.close()
            self.stats.count_write(self.position)

    def abort(self) -> None:
        """Leave the object unfinished: the store drops parts that were never put together."""
        self._open = False


class ObjectStore:
    """A `Store`: a prefix of an object store."""

    def __init__(self, root: str, options: StoreOptions) -> None:
        self.root, self.options = root, options
        self._location = location = parse_uri(root)
        self._client: Client = client_of(location, options)
        self.lists_in_order = not location.authority.endswith("--x-s3")
        self.stats = IOStats()

    def at(self, root: str) -> ObjectStore:
        """Return the store of another prefix; one in the same bucket shares the client."""
        other = ObjectStore(root, self.options)
        ours, theirs = self._location, other._location
        if (ours.scheme, ours.authority) == (theirs.scheme, theirs.authority):
            other._client = self._client
        return other

    def _at(self, path: str) -> str:
        return "/".join(part for part in (self._location.path, path.strip("/")) if part)

    def open(self, path: str) -> ObjectSource:
        return ObjectSource(self._client, self._at(path), self.stats)

    def create(self, path: str) -> ObjectSink:
        return ObjectSink(self._client, self._at(path), self.stats)

    def owns(self, folder: str) -> bool:
        """Return True: an object store has no links to outside."""
        return True

    def list(self, prefix: str) -> Iterator[str]:
        self.stats.read_iops += 1
        below = self._at(prefix)
        with _refusals(below):
            objects = obstore.list_with_delimiter(self._client, below or None)["objects"]
        yield from sorted(one["path"].rpartition("/")[2] for one in objects)

    def walk(self, prefix: str) -> Iterator[Entry]:
        self.stats.read_iops += 1
        below, own = self._at(prefix), self._location.path
        with _refusals(below):
            objects = [one for part in obstore.list(self._client, below or None) for one in part]
        for one in sorted(objects, key=lambda one: one["path"]):
            path = one["path"].removeprefix(f"{own}/") if own else one["path"]
            yield Entry(path, one["size"], one["last_modified"].timestamp())

    def exists(self, path: str) -> bool:
        self.stats.read_iops += 1
        try:
            with _refusals(path):
                obstore.head(self._client, self._at(path))
        except NotFound:
            return False
        return True

    def put(self, path: str, data: bytes) -> None:
        with _refusals(path):
            obstore.put(self._client, self._at(path), data)
        self.stats.count_write(len(data))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if none is there, in one conditional request.

        Raises Unconditional.
        """
        try:
            with _refusals(path):
                obstore.put(self._client, self._at(path), data, mode="create")
        except StoreFailed as error:
            if isinstance(error.__cause__, AlreadyExistsError):
                return False
            if isinstance(error.__cause__, NotSupportedError | NotImplementedError):
                raise Unconditional(str(error)) from error
            raise
        self.stats.count_write(len(data))
        return True

    def rename(self, path: str, to: str) -> None:
        """Give an object another path: a copy, then a removal. Raises NotFound."""
        with _refusals(path):
            obstore.rename(self._client, self._at(path), self._at(to))

    def delete(self, path: str) -> None:
        with suppress(NotFound), _refusals(path):
            obstore.delete(self._client, self._at(path))

    def prune(self, prefix: str) -> None:
        """Do nothing: an object store has no folders to remove."""
