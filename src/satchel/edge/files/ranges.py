"""Conditions and ranges of a download (RFC 9110, 13 and 14), as pure functions of the headers and what is stored."""

import re
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING

from satchel.edge.http.request_context import header
from satchel.stores.ports.objects import ObjectInfo

if TYPE_CHECKING:
    from starlette.types import Scope

_ONE_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.IGNORECASE)


def etag_of(info: ObjectInfo) -> str:
    return '"' + info.etag.strip('"') + '"'


def last_modified(info: ObjectInfo) -> str:
    return format_datetime(info.modified, usegmt=True)


def asks_first(scope: "Scope") -> bool:
    """Whether the answer depends on metadata of the object, which have to be read before it is opened."""
    return any(name in (b"range", b"if-none-match", b"if-modified-since") for name, _ in scope["headers"])


def is_unchanged(scope: "Scope", info: ObjectInfo) -> bool:
    """Whether the client already has this version, so that a 304 is enough."""
    known = header(scope, b"if-none-match")
    if known is not None:
        tags = [tag.strip().removeprefix("W/") for tag in known.decode("latin-1").split(",")]
        return "*" in tags or etag_of(info) in tags
    since = _date(header(scope, b"if-modified-since"))
    return since is not None and info.modified.replace(microsecond=0) <= since


def wanted_range(scope: "Scope", info: ObjectInfo) -> tuple[int, int] | None:
    """Start and length of the range asked for. None means the whole; a length of 0 means a range behind the end.

    Several ranges, other units and ranges of an older version are answered with the whole, as a server may.
    """
    asked = _ONE_RANGE.fullmatch((header(scope, b"range") or b"").decode("latin-1"))
    if asked is None or asked.groups() == ("", "") or not _is_same_version(scope, info):
        return None
    first, last = asked.groups()
    if not first:
        length = min(int(last), info.size_bytes)
        return info.size_bytes - length, length
    start = int(first)
    if last and int(last) < start:
        return None
    end = min(int(last), info.size_bytes - 1) if last else info.size_bytes - 1
    return start, max(0, end - start + 1)


def _is_same_version(scope: "Scope", info: ObjectInfo) -> bool:
    condition = header(scope, b"if-range")
    if condition is None:
        return True
    text = condition.decode("latin-1").strip()
    # A file can change twice within the second of a date, so only exactly our date is good enough.
    return text in (etag_of(info), last_modified(info))


def _date(value: bytes | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value.decode("latin-1")) if value is not None else None
    except (ValueError, OverflowError):
        return None
    # HTTP knows no date without a zone.
    return date if date is not None and date.tzinfo is not None else None
