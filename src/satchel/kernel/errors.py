"""The one tree of errors: every refusal has a status, a stable slug and a sentence that says what to do.

    SatchelError
    ├── Invalid          422  the request cannot be accepted as it is
    ├── Unauthenticated  401  nobody is signed in, or the token has expired
    ├── Forbidden        403  signed in, known, and still not allowed
    ├── NotFound         404  does not exist, or the caller may not know of it
    ├── Conflict         409  somebody else was first, or the state has changed
    ├── Gone             410  existed and has ended
    ├── TooLarge         413  over a stated limit
    ├── TooMany          429  rate limit reached; carries the seconds to wait
    ├── Unavailable      503  something we need does not respond; a retry may help
    └── OutOfSpace       507  no space left to store it

Slices and stores subclass these. `status` is a plain number, so that nothing here imports HTTP.
"""

from typing import Any, ClassVar


class SatchelError(Exception):
    """An error that may be shown to the person who caused it. `detail` says what to do, `facts` are its data."""

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong"

    def __init__(self, detail: str, **facts: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts = facts


class Invalid(SatchelError):
    """The request cannot be accepted as it is. A retry without a change fails again."""

    status = 422
    slug = "invalid"
    title = "This cannot be accepted"


class CursorInvalid(Invalid):
    """The cursor is broken, or belongs to another list, question or time. Read the list from the beginning."""

    slug = "cursor-invalid"
    title = "This cursor leads nowhere"


class Unauthenticated(SatchelError):
    """Nobody is signed in, or the token has expired."""

    status = 401
    slug = "unauthenticated"
    title = "Please sign in"


class Forbidden(SatchelError):
    """The caller is signed in and may see the resource, but may not do this."""

    status = 403
    slug = "forbidden"
    title = "You are not allowed to do this"


class NotFound(SatchelError):
    """The resource does not exist, or the caller may not know of it. The two look alike on purpose."""

    status = 404
    slug = "not-found"
    title = "Not found"


class Conflict(SatchelError):
    """The state has changed, or somebody else was first. Read it again, then decide."""

    status = 409
    slug = "conflict"
    title = "This has changed in the meantime"


class Gone(SatchelError):
    """The resource existed and has ended for good."""

    status = 410
    slug = "gone"
    title = "This has ended"


class TooLarge(SatchelError):
    """The request exceeds a stated limit."""

    status = 413
    slug = "too-large"
    title = "This is too large"


class TooMany(SatchelError):
    """The caller has reached a rate limit. `retry_after` is the number of seconds to wait."""

    status = 429
    slug = "too-many"
    title = "Too many attempts"

    def __init__(self, detail: str, *, retry_after: int, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.retry_after = retry_after


class Unavailable(SatchelError):
    """Something that Satchel needs does not respond. A retry may succeed later."""

    status = 503
    slug = "unavailable"
    title = "Not available right now"
    # Seconds, for clients that wait as long as they are told to.
    retry_after: ClassVar[int] = 2


class StoreRefused(Unavailable, Invalid):
    """A store refused what Satchel's own rules had let pass. That is a mistake of Satchel's, not of the caller.

    Whoever handles `Invalid` handles it alike; visitors are told that it does not work right now.
    """


class OutOfSpace(SatchelError):
    """There is no space left to store this."""

    status = 507
    slug = "out-of-space"
    title = "There is no space left"


def may_have_happened(error: SatchelError) -> bool:
    """Whether a store failed, and no rule refused: what was asked of it may be done all the same."""
    return isinstance(error, Unavailable) or type(error) is OutOfSpace
