"""What a person's name, e-mail address and password may be, and the errors of this slice."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NewType

from satchel.kernel.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from satchel.kernel.unfit import CombinationUnfit, EmailUnfit, TextUnfit

UserId = NewType("UserId", str)
SessionId = NewType("SessionId", str)
# An address as `normalise_email` leaves it; everything stored or compared is of this type.
Email = NewType("Email", str)

SignUpMode = Literal["open", "invitation", "closed"]
Purpose = Literal["web", "cli"]
# From whom somebody takes files without being asked.
Receiving = Literal["anybody", "known", "nobody"]

MIN_PASSWORD_CHARACTERS = 8
MAX_PASSWORD_CHARACTERS = 256
MAX_NAME_CHARACTERS = 80
MAX_EMAIL_BYTES = 254

# The owner of what belongs to the server itself; ids of people never look like this.
SERVER_OWNER = "satchel"
ADMINISTRATOR_SCOPE = ("api", "admin")
OWNER_SCOPE = "owner:main"
# What people may grant to each other: a kind of thing, and a role with it.
GRANTABLE = r"(album|media|score|room|shelf):(visitor|contributor)|score:(reader|marker|editor)|set-list:reader"
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
_JOINERS = "\u200c\u200d"
_LOCAL_PART = re.compile(r"[^\s@\"(),:;<>\[\]\\\x00-\x1f\x7f]{1,64}")
_DOMAIN = re.compile(r"[^\s@\"(),:;<>\[\]\\/#%\x00-\x1f\x7f]+")


class EmailTaken(Conflict):
    """This e-mail address already has an account."""

    slug = "email-taken"
    title = "This address already has an account"


class WrongCredentials(Unauthenticated):
    """The e-mail address or the password is wrong. The answer never says which."""

    slug = "wrong-credentials"
    title = "E-mail address or password is wrong"


class SessionEnded(Unauthenticated):
    """The session has expired, was ended, or its refresh token was used twice. Sign in again."""

    slug = "session-ended"
    title = "This session has ended"


class SetUpNeeded(Forbidden):
    """Nobody has an account here yet. The server prints a link for the first one when it starts."""

    slug = "set-up-needed"
    title = "This server is not set up yet"


class SignUpClosed(Forbidden):
    """This server accepts no new accounts, or only with an invitation."""

    slug = "sign-up-closed"
    title = "Sign-up is closed"


class InvitationInvalid(NotFound):
    """The invitation was used, has expired, was withdrawn, or is for another address."""

    slug = "invitation-invalid"
    title = "This invitation does not work"


class AccountSuspended(Forbidden):
    """An administrator has suspended this account. Its data is kept. The answer needs the right password."""

    slug = "account-suspended"
    title = "This account is suspended"


class LastAdministrator(Conflict):
    """This person is the only administrator, and the server needs one."""

    slug = "last-administrator"
    title = "This is the last administrator"


class OwnSuspension(Conflict):
    """An administrator cannot suspend their own account."""

    slug = "own-suspension"
    title = "You cannot suspend yourself"


class PasswordResetInvalid(NotFound):
    """The reset token was used, has expired, or the password was changed since."""

    slug = "password-reset-invalid"
    title = "This reset link does not work"


@dataclass(frozen=True, slots=True)
class StoreKinds:
    """The kind of each store, such as "sqlite", "memory" and "folder"."""

    table: str
    ephemeral: str
    objects: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with an account."""

    user_id: UserId
    email: Email
    name: str
    administrator: bool


def normalise_email(written: str) -> Email:
    """The canonical form of an address: lower case, Unicode composed, its domain as in the DNS."""
    local, _, domain = _composed(_composed(written.strip()).lower()).rpartition("@")
    dots_in_place = not any(part.startswith(".") or part.endswith(".") or ".." in part for part in (local, domain))
    well_formed = _LOCAL_PART.fullmatch(local) and _DOMAIN.fullmatch(domain) and dots_in_place and is_readable(local)
    address = f"{local}@{_in_dns(domain)}" if well_formed else ""
    if not 1 <= len(address.encode()) <= MAX_EMAIL_BYTES:
        raise _no_address()
    return Email(address)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _in_dns(domain: str) -> str:
    """`bücher.example` and `xn--bcher-kva.example` are one domain."""
    try:
        return domain.encode("idna").decode("ascii")
    except UnicodeError:
        raise _no_address() from None


def _no_address() -> Invalid:
    return EmailUnfit("Enter an e-mail address such as ann@example.org.", field="email")


def check_name(written: str) -> str:
    name = " ".join(written.split())
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not is_readable(name):
        raise TextUnfit(f"Use a name of 1 to {MAX_NAME_CHARACTERS} ordinary characters.", field="name")
    return name


def check_password(written: str, email: Email) -> str:
    """Length makes a password strong. The only other rule: it must not be the address itself."""
    if not MIN_PASSWORD_CHARACTERS <= len(written) <= MAX_PASSWORD_CHARACTERS or not _storable(written):
        limits = f"{MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS}"
        raise TextUnfit(f"Choose a password of {limits} characters.", field="password")
    if written.lower() in (email, email.partition("@")[0]):
        raise CombinationUnfit("Choose a password that is not your e-mail address.", field="password")
    return written


def check_grantable(scope_type: str) -> str:
    if not re.fullmatch(GRANTABLE, scope_type):
        raise TextUnfit("Grant an album, media, score, room or shelf, as visitor or contributor.", field="type")
    return scope_type


def _storable(text: str) -> bool:
    """Half a surrogate pair cannot be written as UTF-8."""
    return not any(unicodedata.category(letter) == "Cs" for letter in text)


def is_readable(text: str) -> bool:
    """Whether every character can be stored and seen, and none reverses the text. Joined emoji are fine."""
    return not any(unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS for letter in text)
