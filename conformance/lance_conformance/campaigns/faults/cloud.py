"""Cloud: a server of S3 and DynamoDB on this machine whose tables can be put back as they were."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from lanceref_testing.object_server import BUCKET, TABLE, ObjectServer, prefix_of

SCHEMES = ("s3", "s3+ddb")
"""Object store alone, and with an external manifest store."""

State: TypeAlias = tuple[dict[str, bytes], list[dict[str, Any]]]
"""Objects by their paths, and records as DynamoDB has them."""

VARIABLES = {
    "aws_endpoint": "AWS_ENDPOINT",
    "dynamodb_endpoint": "DYNAMODB_ENDPOINT",
    "aws_region": "AWS_REGION",
    "allow_http": "AWS_ALLOW_HTTP",
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
}
"""Variables of the environment by the options that they stand for."""


@contextmanager
def environment(server: ObjectServer) -> Iterator[None]:
    """Let clients without options find a server, and put back what the variables were."""
    before = dict(os.environ)
    os.environ.update({name: server.options[option] for option, name in VARIABLES.items()})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def state(server: ObjectServer, uri: str) -> State:
    """Return the objects below a table's root, by their paths, and its records."""
    root = prefix_of(uri) + "/"
    objects = {
        key: server.s3.get_object(Bucket=BUCKET, Key=root + key)["Body"].read()
        for key in server.keys(uri)
    }
    return objects, _records(server, uri)


def restore(server: ObjectServer, uri: str, kept: State) -> None:
    """Make a table what it was: other objects and records are gone."""
    root, (objects, records) = prefix_of(uri) + "/", kept
    for key in server.keys(uri):
        server.s3.delete_object(Bucket=BUCKET, Key=root + key)
    for record in _records(server, uri):
        place = {name: record[name] for name in ("base_uri", "version")}
        server.dynamodb.delete_item(TableName=TABLE, Key=place)
    for path, data in objects.items():
        server.s3.put_object(Bucket=BUCKET, Key=root + path, Body=data)
    for record in records:
        server.dynamodb.put_item(TableName=TABLE, Item=record)


def _records(server: ObjectServer, uri: str) -> list[dict[str, Any]]:
    """Return the records of a table and of its branches."""
    pages = server.dynamodb.get_paginator("scan").paginate(TableName=TABLE)
    every = (one for page in pages for one in page["Items"])
    return [one for one in every if prefix_of(uri) in one["base_uri"]["S"]]
