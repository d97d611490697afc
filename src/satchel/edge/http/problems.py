"""Problem details: every refusal and failure as `application/problem+json`. Nothing else writes that type."""

import inspect
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from satchel.kernel.errors import Forbidden, OutOfSpace, SatchelError, StoreRefused, Unavailable

MEDIA_TYPE = b"application/problem+json"
Headers = list[tuple[bytes, bytes]]

_UNEXPECTED = "Something failed on the server. If it happens again, report the request id to its administrator."

_NO_ANSWER = (
    "Something that this server needs does not work right now. Try again in a moment. "
    "If it lasts, tell its administrator."
)
_NO_SPACE = "There is no space left on this server. Tell its administrator."

_log = logging.getLogger("satchel.edge")
_encode = msgspec.json.Encoder(enc_hook=str).encode


class Malformed(SatchelError):
    """The request is not well-formed: broken HTTP, broken JSON, or text that is not UTF-8."""

    status = 400
    slug = "malformed"
    title = "The request cannot be read"


class BadHeader(Malformed):
    """A header of the upload protocol is missing or cannot be read."""

    slug = "upload-header"
    title = "A header of the upload cannot be read"


class MethodNotAllowed(SatchelError):
    """The address does not offer this method. The header `Allow` names those that it offers."""

    status = 405
    slug = "method-not-allowed"
    title = "This method is not offered at this address"

    def __init__(self, methods: list[str]) -> None:
        super().__init__(f"Use one of: {', '.join(methods)}.", allow=methods)
        self.methods = methods


class TooSlow(SatchelError):
    """The rest of the request did not arrive in time. Send the request again."""

    status = 408
    slug = "too-slow"
    title = "The request took too long to arrive"


class AddressTooLong(SatchelError):
    """The address of the request is longer than the limit."""

    status = 414
    slug = "address-too-long"
    title = "The address is too long"


class WrongMediaType(SatchelError):
    """The body has a type that this address does not take."""

    status = 415
    slug = "wrong-media-type"
    title = "This type of content is not supported"


class HeadersTooLarge(SatchelError):
    """The headers of the request are larger than the limit."""

    status = 431
    slug = "headers-too-large"
    title = "The headers are too large"


class CrossOrigin(Forbidden):
    """A page of another site tried to change something here on behalf of the person who looks at it."""

    slug = "cross-origin"
    title = "Other sites may not do this"


class HttpsNeeded(Forbidden):
    """The request came by plain HTTP to a server that speaks HTTPS, and is no page that could be sent there."""

    slug = "https-needed"
    title = "This server wants to be asked by HTTPS"


class UnknownHost(SatchelError):
    """The request names a host that this server does not answer for. Its settings name the hosts."""

    status = 421
    slug = "unknown-host"
    title = "This server has another name"


class Busy(Unavailable):
    """The server has reached its limit of connections. Try again in a moment."""

    slug = "busy"
    title = "Too busy right now"


class ShuttingDown(Unavailable):
    """The server was stopped before it had answered. Whether the request had an effect is not known."""

    slug = "shutting-down"
    title = "The server is being stopped"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that is ready to be sent."""

    status: int
    headers: Headers
    body: bytes


def bad_header(name: str, wanted: str, **facts: Any) -> BadHeader:
    return BadHeader(f"The header `{name}` has to be {wanted}.", header=name, **facts)


def problem_from(error: Exception, request_id: str) -> Problem:
    """The answer to an exception. One that is not ours becomes a plain 500, and its cause goes to the log alone."""
    if not isinstance(error, SatchelError):
        _log.error("a request failed", exc_info=error, extra={"request": request_id})
        error = SatchelError(_UNEXPECTED)
    elif error.status >= 500:
        _log.warning("a request could not be served: %s", with_cause(error), extra={"request": request_id})
    content: dict[str, Any] = {
        **error.facts,
        "type": f"/problems#{error.slug}",
        "title": error.title,
        "status": error.status,
        "detail": _detail_for_visitors(error),
        "instance": f"urn:satchel:request:{request_id}",
    }
    body = _encode(content)
    headers: Headers = [
        (b"content-type", MEDIA_TYPE),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    headers.extend(_extra_headers(error))
    return Problem(error.status, headers, body)


def with_cause(error: SatchelError) -> str:
    """For the log. Where a failure is known, the words of whoever caused it say more than a traceback."""
    cause = error.__cause__
    return error.detail if cause is None else f"{error.detail} ({type(cause).__name__}: {cause})"


def _detail_for_visitors(error: SatchelError) -> str:
    """What failed behind the server, and what that is called, concerns those alone who look after it."""
    cause = error.__cause__
    is_ours_to_tell = cause is None or isinstance(cause, SatchelError)
    if error.status < 500 or (is_ours_to_tell and not isinstance(error, StoreRefused)):
        return error.detail
    return _NO_SPACE if isinstance(error, OutOfSpace) else _NO_ANSWER


def _extra_headers(error: SatchelError) -> Iterator[tuple[bytes, bytes]]:
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        yield b"retry-after", b"%d" % retry_after
    if isinstance(error, MethodNotAllowed):
        yield b"allow", ", ".join(error.methods).encode("ascii")
    if error.status == 416 and "size_bytes" in error.facts:
        yield b"content-range", b"bytes */%d" % error.facts["size_bytes"]
    if dead := getattr(error, "forgets_cookie", None):
        yield b"set-cookie", f"{dead}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax".encode("ascii")
        yield b"set-cookie", f"__Host-{dead}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure".encode("ascii")
    if error.status == 401:
        reason = b', error="invalid_token"' if error.slug == "token-expired" else b""
        yield b"www-authenticate", b'Bearer realm="satchel"' + reason


class ProblemKind(msgspec.Struct, frozen=True):
    """A kind of problem as documented: `about` says when it happens and what to do."""

    slug: str
    status: int
    title: str
    about: str


def kinds_of_problem() -> list[ProblemKind]:
    """Every kind of problem that the loaded code can answer with, by slug."""
    found: dict[str, ProblemKind] = {}
    waiting: list[type[SatchelError]] = [SatchelError]
    while waiting:
        kind = waiting.pop()
        waiting.extend(kind.__subclasses__())
        # A class without a slug of its own is a detail of the code, not a kind that clients can tell apart.
        if "slug" in vars(kind):
            about = _UNEXPECTED if kind is SatchelError else inspect.getdoc(kind) or ""
            found[kind.slug] = ProblemKind(kind.slug, kind.status, kind.title, " ".join(about.split()))
    return [found[slug] for slug in sorted(found)]
