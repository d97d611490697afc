"""What a server answers, as far as the command reads it; what it does not know of, it passes over."""

import msgspec

from satchel.cli.credentials import Session


class Tokens(msgspec.Struct, frozen=True):
    """What a server gives to a program that signs in."""

    access_token: str
    refresh_token: str


class SignedIn(msgspec.Struct, frozen=True):
    """The answer to signing up, signing in and refreshing."""

    email: str
    tokens: Tokens

    def session(self) -> Session:
        return Session(
            email=self.email,
            access_token=self.tokens.access_token,
            refresh_token=self.tokens.refresh_token,
        )


class Person(msgspec.Struct, frozen=True):
    """One's own account."""

    user_id: str
    email: str
    name: str
    administrator: bool


class Invitation(msgspec.Struct, frozen=True):
    """Leave for somebody to sign up."""

    token: str
    expires_at: str


class ListedPerson(msgspec.Struct, frozen=True):
    """Somebody with an account, as administrators see them."""

    user_id: str
    name: str
    email: str
    administrator: bool
    suspended: bool
    created_at: str
    last_used_at: str | None
    used_bytes: int


class People(msgspec.Struct, frozen=True):
    """A page of people."""

    people: list[ListedPerson]
    cursor: str | None


class PasswordReset(msgspec.Struct, frozen=True):
    """Leave for somebody to choose a new password."""

    token: str
    expires_at: str


class Problem(msgspec.Struct, frozen=True):
    """Why the server did not do it."""

    detail: str
    type: str = "about:blank"

    @property
    def slug(self) -> str:
        return self.type.rpartition("#")[2]
