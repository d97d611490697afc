"""The ETag of a file or folder over HTTP: which state a request changes, and which state an answer shows."""

from starlette.requests import Request

from satchel.features.shelf.model import Etag
from satchel.features.shelf.service.entry_state import etag_of
from satchel.features.shelf.service.placement import Entry

SENDS = {"If-Match": "the ETag of the state that is changed; if it has changed since, nothing is done"}
ANSWERS = {"ETag": "the state that the answer shows"}


def wanted_etag(request: Request) -> Etag | None:
    """The state that the request changes. None is whatever it is."""
    written = request.headers.get("if-match", "").strip().removeprefix("W/")
    return None if written in ("", "*") else Etag(written.strip('"'))


def headers_of(entry: Entry) -> dict[str, str]:
    return {"etag": f'"{etag_of(entry)}"'}
