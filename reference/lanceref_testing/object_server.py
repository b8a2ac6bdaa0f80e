"""Object server: S3 and DynamoDB on this machine, for tests and campaigns."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.request import Request, urlopen
from uuid import uuid4

import boto3
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

BUCKET, TABLE = "bucket", "manifests"

Item: TypeAlias = dict[str, dict[str, str]]
"""The DynamoDB item of a version."""

State: TypeAlias = tuple[dict[str, bytes], list[Item]]
"""Objects of a table by their paths below its root, and its items."""


class ObjectServer:
    """The server: `options` are those of a table; `s3` and `dynamodb` are clients for checks."""

    def __init__(self, endpoint: str) -> None:
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
        self.options = {
            **keys,
            "aws_endpoint": endpoint,
            "dynamodb_endpoint": endpoint,
            "aws_region": "us-east-1",
            "allow_http": "true",
            "client_max_retries": "2",
        }
        kwargs = {**keys, "endpoint_url": endpoint, "region_name": "us-east-1"}
        self.s3: Any = boto3.client("s3", **kwargs)
        self.dynamodb: Any = boto3.client("dynamodb", **kwargs)
        self.s3.create_bucket(Bucket=BUCKET)
        self.make_table(TABLE, "base_uri", "version")

    def make_table(self, name: str, hash_key: str, range_key: str) -> None:
        """Make a DynamoDB table with two keys, a string and a number."""
        keys = ((hash_key, "HASH", "S"), (range_key, "RANGE", "N"))
        self.dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind, _ in keys],
            AttributeDefinitions=[
                {"AttributeName": key, "AttributeType": kind} for key, _, kind in keys
            ],
            BillingMode="PAY_PER_REQUEST",
        )

    def uri(self, scheme: str = "s3") -> str:
        """Return the URI of a new table."""
        query = f"?ddbTableName={TABLE}" if scheme == "s3+ddb" else ""
        return f"{scheme}://{BUCKET}/{uuid4().hex}/table{query}"

    def keys(self, uri: str) -> list[str]:
        """Return the paths of the objects below a URI."""
        root = prefix_of(uri) + "/"
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=root)
        return [one["Key"].removeprefix(root) for page in pages for one in page.get("Contents", [])]

    def rows(self, uri: str) -> dict[int, str]:
        """Return the recorded paths of a table by version."""
        items = self.items(uri)
        return {int(item["version"]["N"]): item["path"]["S"] for item in items}

    def items(self, uri: str) -> list[Item]:
        """Return the items of a table and of its branches."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=TABLE)
        every = (one for page in pages for one in page["Items"])
        return [one for one in every if prefix_of(uri) in one["base_uri"]["S"]]

    def state(self, uri: str) -> State:
        """Return the objects and items of a table, for `restore`."""
        root = prefix_of(uri) + "/"
        objects = {
            key: self.s3.get_object(Bucket=BUCKET, Key=root + key)["Body"].read()
            for key in self.keys(uri)
        }
        return objects, self.items(uri)

    def restore(self, uri: str, state: State) -> None:
        """Replace the objects and items of a table by those of a state."""
        root, (objects, items) = prefix_of(uri) + "/", state
        for key in self.keys(uri):
            self.s3.delete_object(Bucket=BUCKET, Key=root + key)
        for item in self.items(uri):
            self._remove(item)
        for path, data in objects.items():
            self.s3.put_object(Bucket=BUCKET, Key=root + path, Body=data)
        for item in items:
            self.dynamodb.put_item(TableName=TABLE, Item=item)

    def change(self, uri: str, version: int, **attributes: dict[str, str] | None) -> None:
        """Change attributes of an item; None removes one."""
        item = self._item(uri, version)
        for name, value in attributes.items():
            if value is None:
                del item[name]
            else:
                item[name] = value
        self.dynamodb.put_item(TableName=TABLE, Item=item)

    def remove(self, uri: str, version: int) -> None:
        """Remove an item."""
        self._remove(self._item(uri, version))

    def _item(self, uri: str, version: int) -> Item:
        items = {item["version"]["N"]: item for item in self.items(uri)}
        return items[str(version)]

    def _remove(self, item: Item) -> None:
        key = {name: item[name] for name in ("base_uri", "version")}
        self.dynamodb.delete_item(TableName=TABLE, Key=key)


def prefix_of(uri: str) -> str:
    """Return the key prefix of a URI in the bucket."""
    return uri.partition(f"{BUCKET}/")[2].partition("?")[0]


class SerialApplication:
    """The application of the server, which handles one request at a time.

    moto looks for an object and puts it in two steps, so that two concurrent conditional puts could
    both succeed.
    """

    def __init__(self) -> None:
        self._application, self._lock = DomainDispatcherApplication(create_backend_app), Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with self._lock:
            response: Iterable[bytes] = self._application(environ, start_response)
            return response


@contextmanager
def running() -> Iterator[ObjectServer]:
    """Run a server on a free port."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, SerialApplication(), threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    endpoint = f"http://127.0.0.1:{server.port}"
    try:
        # moto keeps the state of earlier servers
        urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")).close()
        yield ObjectServer(endpoint)
    finally:
        server.shutdown()
        thread.join()
