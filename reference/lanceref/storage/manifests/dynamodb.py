"""DynamoDB manifest store: records in a table that all writers of a bucket share.

The key of a table is its path in the bucket.

Layout (item): base_uri S (hash key), version N (range key), path S, size N, committer S. Rows of
old releases have no size, and an e_tag that says nothing.

Clauses: L.txn.store.reserve, L.txn.store.key, L.txn.store.record
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

from lanceref.core.context import Context
from lanceref.core.errors import ExtraMissing, FormatError, StoreFailed
from lanceref.storage.manifests.manifest_names import COMMITTER, DETACHED, Record, parse_record
from lanceref.storage.uri import message_of

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    raise ExtraMissing(
        "s3+ddb:// needs the package boto3: pip install 'lance-conformance[objectstore]'"
    ) from error

if TYPE_CHECKING:
    from botocore.client import BaseClient

Item = Mapping[str, Mapping[str, str]]
"""An item: a value by its type, by attribute."""

KEYS = {"base_uri": "HASH", "version": "RANGE"}
"""What a table must be keyed by."""

ABSENT = "attribute_not_exists(base_uri) AND attribute_not_exists(version)"
PRESENT = "attribute_exists(base_uri) AND attribute_exists(version)"


class Key(TypedDict):
    """The partition and sort key of an item in DynamoDB."""

    base_uri: Mapping[str, str]
    version: Mapping[str, str]


@contextmanager
def _refusals(table: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        message = message_of(error)
        cause = error if message == str(error) else None  # it shows the password of the endpoint
        raise StoreFailed(f"DynamoDB table {table}: {message}") from cause


@lru_cache(maxsize=16)
def _client(options: frozenset[tuple[str, str]]) -> BaseClient:
    own = {key.lower().removeprefix("aws_"): value for key, value in options}
    retries = own.get("client_max_retries", "")
    config = Config(retries={"max_attempts": int(retries)} if retries.isdecimal() else None)
    return boto3.client(
        "dynamodb",
        endpoint_url=own.get("dynamodb_endpoint") or os.environ.get("DYNAMODB_ENDPOINT"),
        aws_access_key_id=own.get("access_key_id"),
        aws_secret_access_key=own.get("secret_access_key"),
        aws_session_token=own.get("session_token") or own.get("token"),
        region_name=own.get("region") or own.get("default_region") or os.environ.get("AWS_REGION"),
        config=config,
    )


class DynamoManifests:
    """A `ManifestStore` in a DynamoDB table. Raises StoreFailed for one with other keys."""

    def __init__(self, table: str, options: Mapping[str, str]) -> None:
        self._table = table
        with _refusals(table):
            self._client = _client(frozenset(options.items()))
            schema = self._client.describe_table(TableName=table)["Table"]["KeySchema"]
        keys = {key["AttributeName"]: key["KeyType"] for key in schema}
        if keys != KEYS:
            raise StoreFailed(f"DynamoDB table {table}: keyed by {keys}, not by {KEYS}")

    def get(self, key: str, version: int) -> Record | None:
        with _refusals(self._table):
            response = self._client.get_item(
                TableName=self._table, Key=_key(key, version), ConsistentRead=True
            )
        return _record(key, response["Item"]) if "Item" in response else None

    def latest(self, key: str) -> Record | None:
        with _refusals(self._table):
            response = self._client.query(
                TableName=self._table,
                KeyConditionExpression="base_uri = :base_uri AND version < :detached",
                ExpressionAttributeValues={
                    ":base_uri": {"S": key},
                    ":detached": {"N": str(DETACHED)},
                },
                ScanIndexForward=False,
                Limit=1,
                ConsistentRead=True,
            )
        return _record(key, response["Items"][0]) if response["Items"] else None

    def put_if_absent(self, key: str, record: Record) -> bool:
        return self._put(key, record, ABSENT)

    def put_if_present(self, key: str, record: Record) -> bool:
        return self._put(key, record, PRESENT)

    def _put(self, key: str, record: Record, condition: str) -> bool:
        path, committer = {"S": f"{key}/{record.path}"}, {"S": COMMITTER}
        item = {**_key(key, record.version), "path": path, "committer": committer}
        if record.size is not None:
            item["size"] = {"N": str(record.size)}
        with _refusals(self._table):
            try:
                self._client.put_item(
                    TableName=self._table, Item=item, ConditionExpression=condition
                )
            except ClientError as error:
                if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                    raise
                return False
        return True

    def forget(self, key: str) -> None:
        with _refusals(self._table):
            pages = self._client.get_paginator("query").paginate(
                TableName=self._table,
                KeyConditionExpression="base_uri = :base_uri",
                ExpressionAttributeValues={":base_uri": {"S": key}},
                ProjectionExpression="base_uri, version",
            )
            for page in pages:
                for item in page["Items"]:
                    self._client.delete_item(TableName=self._table, Key=item)


def _key(key: str, version: int) -> Key:
    # L.txn.store.key
    return {"base_uri": {"S": key}, "version": {"N": str(version)}}


def _record(key: str, item: Item) -> Record:
    """Return the record of an item. Raises FormatError for attributes of another type."""
    version, path, size = (item.get(name, {}) for name in ("version", "path", "size"))
    number = version.get("N", "")
    if not number.isdecimal() or "S" not in path or not (not size or size.get("N", "").isdecimal()):
        place, found = Context(key).at(0), f"version {version}, path {path}, size {size}"
        raise FormatError("L.txn.store.record", place, found, "a number, a string and a number")
    return parse_record(key, int(number), path["S"], int(size["N"]) if size else None)
