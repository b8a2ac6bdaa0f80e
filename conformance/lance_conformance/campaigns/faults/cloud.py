"""Cloud: a server of S3 and DynamoDB on this machine, in a process of its own.

It answers one request after the other: what a conditional write looks at does not change until it
is done. Run as `python -m lance_conformance.campaigns.faults.cloud`; it prints its port.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias
from uuid import uuid4

BUCKET, TABLE = "bucket", "manifests"

SCHEMES = ("s3", "s3+ddb")
"""Object store alone, and with an external manifest store."""


State: TypeAlias = tuple[dict[str, bytes], list[dict[str, Any]]]
"""Objects by their paths, and records as DynamoDB has them."""


class Cloud:
    """The server, with a bucket and a table for manifests.

    `options` reach it, and so does who has none and the `environment`.
    """

    def __init__(self, endpoint: str) -> None:
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
        self.options = {
            **keys,
            "aws_endpoint": endpoint,
            "dynamodb_endpoint": endpoint,
            "aws_region": "us-east-1",
            "allow_http": "true",
        }
        self.environment = {
            **{key.upper(): value for key, value in keys.items()},
            "AWS_ENDPOINT": endpoint,
            "DYNAMODB_ENDPOINT": endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }
        boto3 = import_module("boto3")
        place = {**keys, "endpoint_url": endpoint, "region_name": "us-east-1"}
        self._objects: Any = boto3.client("s3", **place)
        self._objects.create_bucket(Bucket=BUCKET)
        attributes = (("base_uri", "HASH", "S"), ("version", "RANGE", "N"))
        self._records: Any = boto3.client("dynamodb", **place)
        self._records.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": name, "KeyType": key} for name, key, _ in attributes],
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": kind} for name, _, kind in attributes
            ],
            BillingMode="PAY_PER_REQUEST",
        )

    def uri(self, scheme: str) -> str:
        """Return the URI of a new table."""
        query = f"?ddbTableName={TABLE}" if scheme == "s3+ddb" else ""
        return f"{scheme}://{BUCKET}/{uuid4().hex}/table{query}"

    def state(self, uri: str) -> State:
        """Return the objects below a table's root, by their paths, and its records."""
        prefix = _key(uri)
        keys = self._keys(prefix)
        bodies = (self._objects.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys)
        objects = dict(zip((key.removeprefix(prefix) for key in keys), bodies, strict=True))
        return objects, self._records_below(prefix)

    def restore(self, uri: str, state: State) -> None:
        """Make a table what it was: other objects and records are gone."""
        prefix, (objects, records) = _key(uri), state
        for key in self._keys(prefix):
            self._objects.delete_object(Bucket=BUCKET, Key=key)
        for record in self._records_below(prefix):
            place = {name: record[name] for name in ("base_uri", "version")}
            self._records.delete_item(TableName=TABLE, Key=place)
        for path, data in objects.items():
            self._objects.put_object(Bucket=BUCKET, Key=prefix + path, Body=data)
        for record in records:
            self._records.put_item(TableName=TABLE, Item=record)

    def _keys(self, prefix: str) -> list[str]:
        pages = self._objects.get_paginator("list_objects_v2").paginate(
            Bucket=BUCKET, Prefix=prefix
        )
        return [one["Key"] for page in pages for one in page.get("Contents", ())]

    def _records_below(self, prefix: str) -> list[dict[str, Any]]:
        """Return the records of a table and of its branches."""
        pages = self._records.get_paginator("scan").paginate(TableName=TABLE)
        every = (one for page in pages for one in page["Items"])
        return [one for one in every if prefix.rstrip("/") in one["base_uri"]["S"]]


def _key(uri: str) -> str:
    """Return what the keys of the objects of a table begin with."""
    return uri.partition(f"{BUCKET}/")[2] + "/"


@contextmanager
def cloud() -> Iterator[Cloud]:
    """Start the server, and stop it at the end."""
    command = [sys.executable, "-m", "lance_conformance.campaigns.faults.cloud"]
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        yield Cloud(f"http://127.0.0.1:{int(server.stdout.readline())}")
    finally:
        server.kill()
        server.communicate()


def main() -> None:
    """Serve until the process ends."""
    moto, serving = import_module("moto.server"), import_module("werkzeug.serving")
    app = moto.DomainDispatcherApplication(moto.create_backend_app)
    handler = moto.MotoRequestHandler
    server = serving.make_server("127.0.0.1", 0, app, threaded=False, request_handler=handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
