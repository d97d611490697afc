"""What a server answers, as far as the command reads it; what it does not know of, it passes over."""

from typing import Literal

import msgspec

from satchel.cli.engine.http.credentials import GuestPass, Session


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


class GuestEntered(msgspec.Struct, frozen=True):
    """The answer to coming in as a guest."""

    guest_id: str
    name: str
    expires_at: str
    token: str

    def guest_pass(self) -> GuestPass:
        return GuestPass(guest_id=self.guest_id, name=self.name, access_token=self.token, expires_at=self.expires_at)


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


class UploadState(msgspec.Struct, frozen=True):
    """How far an upload has come; `became` is the id of the file that was made of it."""

    size_bytes: int
    offset_bytes: int
    became: str | None


class KeptFile(msgspec.Struct, frozen=True):
    """What a file of a bundle became, if it did."""

    became: str | None = None


class KeptBundle(msgspec.Struct, frozen=True):
    """One answer per file, in their order."""

    files: list[KeptFile]


class Entry(msgspec.Struct, frozen=True):
    """A file or a folder on one's shelf; folders have neither size nor digest."""

    kind: Literal["file", "folder"]
    id: str
    name: str
    size_bytes: int | None
    sha256: str | None
    created_at: str


class Found(Entry, frozen=True):
    """What a search found, and the names of the folders above it."""

    path: list[str]


class Entries(msgspec.Struct, frozen=True):
    """A page of what is in a folder."""

    entries: list[Entry]
    cursor: str | None


class Findings(msgspec.Struct, frozen=True):
    """A page of what a search found."""

    entries: list[Found]
    cursor: str | None


class Problem(msgspec.Struct, frozen=True):
    """Why the server did not do it."""

    detail: str
    type: str = "about:blank"

    @property
    def slug(self) -> str:
        return self.type.rpartition("#")[2]
