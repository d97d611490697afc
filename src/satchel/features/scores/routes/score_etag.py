"""The ETag of a score over HTTP: which state a request changes, and which state an answer shows."""

import re

from starlette.requests import Request

from satchel.features.scores.model import Etag, EtagMissing

_ETAG = re.compile(r'(?:W/)?"(?P<etag>[A-Za-z0-9+/]{1,64})"')
SENDS = {"If-Match": "the ETag of the state that is changed, or * for whatever it is"}
ANSWERS = {"ETag": "the state that the answer shows"}


def etag_of(request: Request) -> Etag | None:
    """The state that the request changes. None is whatever it is. Raises `EtagMissing` if it does not say."""
    written = request.headers.get("if-match", "").strip()
    if not written:
        raise EtagMissing("Send the ETag of the state that you change in the header `If-Match`.")
    if written == "*":
        return None
    found = _ETAG.fullmatch(written)
    # Whatever else it is, no score has it.
    return Etag(found["etag"] if found else "-")


def headers_of(etag: Etag) -> dict[str, str]:
    return {"etag": f'"{etag}"'}
