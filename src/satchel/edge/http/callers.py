"""The kinds of callers as types, so that an endpoint can say in its signature whom it serves."""

from typing import TypeAlias

import msgspec

from satchel.kernel.errors import Forbidden, Unauthenticated


class Stranger(msgspec.Struct, frozen=True):
    """Somebody who sent no token."""


class Guest(msgspec.Struct, frozen=True):
    """Somebody without an account, known by a signed id and the name they chose."""

    id: str
    name: str


class Member(msgspec.Struct, frozen=True):
    """Somebody signed in to an account."""

    user_id: str
    email: str
    session_id: str
    admin: bool = False


class Admin(Member, frozen=True):
    """A member who administers this server."""


Caller: TypeAlias = Stranger | Guest | Member
KINDS: tuple[type, ...] = (Stranger, Guest, Member, Admin)


def admit(caller: Caller, accepted: tuple[type, ...]) -> None:
    """Return if the caller is of an accepted kind, else raise what they have to do."""
    if isinstance(caller, accepted):
        return
    if isinstance(caller, Member):
        reason = "Only an administrator of this server can do this." if Admin in accepted else "Sign out first."
        raise Forbidden(reason)
    raise Unauthenticated("Sign in to do this.")
