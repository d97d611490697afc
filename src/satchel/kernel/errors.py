"""The one tree of errors, so that every refusal has a status, a stable name and a sentence saying what to do.

    SatchelError
    ├── Invalid          422  what was sent cannot be accepted as it is
    ├── Unauthenticated  401  nobody is signed in, or the proof has expired
    ├── Forbidden        403  signed in, known, and still not allowed
    ├── NotFound         404  not there, or not for this caller to know of
    ├── Conflict         409  somebody else was first, or the state has moved on
    ├── Gone             410  was here, is not any more
    ├── TooLarge         413  over a stated limit
    ├── TooMany          429  too often; carries the seconds to wait
    ├── Unavailable      503  something we need does not answer; trying again later may help
    └── OutOfSpace       507  no room left to keep it

Slices and stores subclass these; `status` is a plain number, so that nothing here knows HTTP.
"""

from typing import Any, ClassVar


class SatchelError(Exception):
    """An error that may be shown to the person who caused it: `detail` says what to do, `facts` are its data."""

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong"

    def __init__(self, detail: str, **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = facts


class Invalid(SatchelError):
    """What was sent cannot be accepted as it is; sending it again unchanged will fail again."""

    status = 422
    slug = "invalid"
    title = "This cannot be accepted"


class Unauthenticated(SatchelError):
    """Nobody is signed in, or the proof of it has expired."""

    status = 401
    slug = "unauthenticated"
    title = "Please sign in"


class Forbidden(SatchelError):
    """The caller is known and may know of the thing, but may not do this."""

    status = 403
    slug = "forbidden"
    title = "You are not allowed to do this"


class NotFound(SatchelError):
    """Not there, or not for this caller to know of: the two look alike on purpose."""

    status = 404
    slug = "not-found"
    title = "Not found"


class Conflict(SatchelError):
    """The state has moved on, or somebody else was first; read again, then decide."""

    status = 409
    slug = "conflict"
    title = "This has changed in the meantime"


class Gone(SatchelError):
    """It was here, and has ended for good."""

    status = 410
    slug = "gone"
    title = "This has ended"


class TooLarge(SatchelError):
    """Over a stated limit."""

    status = 413
    slug = "too-large"
    title = "This is too large"


class TooMany(SatchelError):
    """Too often; `retry_after` says how many seconds to wait."""

    status = 429
    slug = "too-many"
    title = "Too many attempts"

    def __init__(self, detail: str, *, retry_after: int, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.retry_after = retry_after


class Unavailable(SatchelError):
    """Something Satchel needs does not answer; the same request may succeed later."""

    status = 503
    slug = "unavailable"
    title = "Not available right now"


class OutOfSpace(SatchelError):
    """There is no room left to keep this."""

    status = 507
    slug = "out-of-space"
    title = "There is no room left"
