"""Cloud: a server of S3 and DynamoDB on this machine, in a process of its own.

It answers one request after the other: what a conditional write looks at does not change until it
is done. Run as `python -m lance_conformance.campaigns.safety.cloud`; it prints its port.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from uuid import uuid4

BUCKET, TABLE = "bucket", "manifests"

SCHEMES = ("s3", "s3+ddb")
"""Object store alone, and with an external manifest store."""


class Cloud:
    """The server, with a bucket and a table for manifests; `options` reach it."""

    def __init__(self, endpoint: str) -> None:
        keys = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
        self.options = {
            **keys,
            "aws_endpoint": endpoint,
            "dynamodb_endpoint": endpoint,
            "aws_region": "us-east-1",
            "allow_http": "true",
        }
        boto3 = import_module("boto3")
        place = {**keys, "endpoint_url": endpoint, "region_name": "us-east-1"}
        boto3.client("s3", **place).create_bucket(Bucket=BUCKET)
        attributes = (("base_uri", "HASH", "S"), ("version", "RANGE", "N"))
        boto3.client("dynamodb", **place).create_table(
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


@contextmanager
def cloud() -> Iterator[Cloud]:
    """Start the server, and stop it at the end."""
    command = [sys.executable, "-m", "lance_conformance.campaigns.safety.cloud"]
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
