"""Addresses of object storage: which are allowed, and the file system behind one."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import parse_qsl

from swingby.errors import SwingbyError

SCHEMES = ("s3", "gs", "abfs", "abfss")
"""The kinds of addresses; `s3` is the one that is tested."""
OPTIONS = ("endpoint_override", "scheme", "region")
"""The options in the query of an `s3` address."""
DATA_MARK = "swingby.json"
"""The file that makes a folder, or a prefix of object storage, a data folder."""
MARK = "mirror.json"
"""The file of a mirror that says its address."""
TIMEOUT = 10.0
"""Seconds without a byte after which a request has failed."""


def is_address(text: str) -> bool:
    """Whether a text is meant as the address of object storage, well formed or not."""
    return "://" in text


class Address:
    """An address of object storage.

    Args:
        text: `s3://bucket/prefix`, with `?endpoint_override=host:port&scheme=http` for a storage that is not Amazon's
            (or AWS_ENDPOINT_URL in the environment); the keys of the account come from the environment
            (AWS_ACCESS_KEY_ID, a profile, a role), and never from the address, which is written down.

    Attributes:
        text: the address in its one spelling, without doubled slashes or one at the end.

    Raises:
        SwingbyError: no such kind of address, no bucket in it, or a secret in it.
    """

    def __init__(self, text: str) -> None:
        match = re.fullmatch(r"(\w+)://([^/?]*)(/[^?]*)?(\?.*)?", text)
        if match is None or match[1] not in SCHEMES:
            allowed = ", ".join(f"{scheme}://bucket/prefix" for scheme in SCHEMES)
            shown = re.sub(r"//[^/]*@", "//...@", text.split("?")[0])
            raise SwingbyError(f"{shown!r} is no address of object storage; allowed: {allowed}, or a folder")
        if "@" in match[2] or re.search(r"(access|secret|session|sas)_?(key|token)", match[4] or "", re.IGNORECASE):
            raise SwingbyError(
                "the address of object storage holds a secret, and addresses are written down; leave it out, and set "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or a profile, or a role) instead"
            )
        if not match[2]:
            raise SwingbyError(f"{text!r} names no bucket; allowed: {match[1]}://bucket/prefix")
        self._scheme, self._options = match[1], dict(parse_qsl((match[4] or "?")[1:]))
        if self._scheme == "s3" and (unknown := self._options.keys() - set(OPTIONS)):
            raise SwingbyError(f"{text!r}: {min(unknown)!r} is no option; allowed: {', '.join(OPTIONS)}")
        self._path = f"{match[2]}{re.sub('/+', '/', match[3] or '').rstrip('/')}"
        self.text = f"{match[1]}://{self._path}{match[4] or ''}"

    def reached(self, delayed: bool) -> tuple[Any, str]:
        """The file system, and the path of the prefix in it.

        Args:
            delayed: of `s3`: opening a stream sends no request, and a small object is put by a single one.

        Raises:
            Exception: whatever the vendor's library raises.
        """
        from pyarrow.fs import AwsStandardS3RetryStrategy, FileSystem, S3FileSystem, resolve_s3_region

        if self._scheme != "s3":
            system, path = FileSystem.from_uri(self.text)
            return system, path.rstrip("/")
        options: dict[str, Any] = {
            "connect_timeout": TIMEOUT,
            "request_timeout": TIMEOUT,
            "retry_strategy": AwsStandardS3RetryStrategy(max_attempts=1),  # `Bucket` repeats requests itself
            "allow_delayed_open": delayed,
            **self._options,
        }
        url = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if url and "endpoint_override" not in options:
            scheme, known, place = url.rpartition("://")
            options["endpoint_override"] = place.rstrip("/")
            if known:
                options.setdefault("scheme", scheme)
        if "region" not in options and "endpoint_override" not in options:
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
            options["region"] = region or resolve_s3_region(self._path.split("/")[0])
        return S3FileSystem(**options), self._path
