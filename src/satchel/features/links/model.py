"""Plain types of links, their states, the rules for names and notes, and the errors of this slice."""

import re
import secrets
import unicodedata
from datetime import timedelta
from typing import Literal, NewType

from satchel.kernel.errors import Conflict, Forbidden, Gone, NotFound, TooLarge
from satchel.kernel.linked import ThingKind
from satchel.kernel.unfit import TextUnfit

LinkId = NewType("LinkId", str)
# The token in a link's address. Anybody who knows it can open the link.
Token = NewType("Token", str)
OwnerId = NewType("OwnerId", str)
# A word that the owner chose to stand in the address instead of the token. It can be guessed.
Alias = NewType("Alias", str)
BadgeId = NewType("BadgeId", str)
# A request is a folder that visitors can put files into, and see nothing of.
State = Literal["active", "not-yet", "paused", "expired", "used-up", "revoked", "gone"]

TOKEN_CHARACTERS = 22
# Fewer than a token has, so that the one is never taken for the other.
MIN_ALIAS_CHARACTERS = 3
MAX_ALIAS_CHARACTERS = 20
MAX_ID_CHARACTERS = 64
MAX_NOTE_CHARACTERS = 500
MAX_NAME_CHARACTERS = 200
MIN_PASSWORD_CHARACTERS = 6
MAX_PASSWORD_CHARACTERS = 256
MAX_DOWNLOADS = 100_000
MAX_BYTES = 2**50
# More than anybody needs by one link. Empty files use no space, so nothing else would limit their number.
MOST_RECEIVED_FILES = 10_000
LONGEST_LIFE = timedelta(days=366 * 100)
# The kinds with files to download.
DOWNLOADABLE: tuple[ThingKind, ...] = ("file", "folder", "selection", "album", "photos")
# The kinds with files to look at.
WITH_FILES: tuple[ThingKind, ...] = (*DOWNLOADABLE, "score")
# Those of them with many files, which are also taken all at once.
WITH_MANY_FILES: tuple[ThingKind, ...] = ("folder", "selection", "album", "photos")

_ALIAS = re.compile(r"(?=.{3,20}$)[a-z0-9]+(?:-[a-z0-9]+)*")
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
_JOINERS = "\u200c\u200d"


class LinkUnknown(NotFound):
    """The link does not exist: the address is wrong, or the link was revoked long ago."""

    slug = "link-unknown"
    title = "Link not found"


class LinkPaused(Forbidden):
    """The owner has paused the link, and may resume it."""

    slug = "link-paused"
    title = "This link is paused"


class LinkNotYet(Forbidden):
    """The owner has chosen a time before which the link does not open."""

    slug = "link-not-yet"
    title = "This link does not open yet"


class AliasTaken(Conflict):
    """Another link of this server has this alias."""

    slug = "alias-taken"
    title = "This alias is taken"


class LinkExpired(Gone):
    """The link is past the expiry that its owner chose."""

    slug = "link-expired"
    title = "This link has expired"


class LinkUsedUp(Gone):
    """The link has reached the number of downloads that its owner allows."""

    slug = "link-used-up"
    title = "Download limit reached"


class NoOutline(NotFound):
    """The link leads to something that has no viewer of its own."""

    slug = "link-no-outline"
    title = "There is no outline"


class PlaceUnknown(NotFound):
    """The download has ended, or its place was given back."""

    slug = "place-unknown"
    title = "No such download"


class PlaceInUse(Conflict):
    """Bytes are going out for this place."""

    slug = "place-in-use"
    title = "This download is in progress"


class LinkRevoked(Gone):
    """The owner has revoked the link for good."""

    slug = "link-revoked"
    title = "This link was revoked"


class LinkTargetGone(Gone):
    """The content was deleted or has ended. If the owner restores it from the bin, the link works again."""

    slug = "link-target-gone"
    title = "The content of this link no longer exists"


class LinkPasswordNeeded(Forbidden):
    """The link opens only with its password."""

    slug = "link-password-needed"
    title = "This link needs a password"


class LinkPasswordWrong(Forbidden):
    """This is not the password of the link."""

    slug = "link-password-wrong"
    title = "This password is wrong"


class LinkPassOver(Forbidden):
    """The pass from entering the link has expired. Enter again."""

    slug = "link-pass-over"
    title = "Open the link again"


class LinkFull(TooLarge):
    """The upload would exceed the size that the owner allows. Nothing was stored."""

    slug = "link-full"
    title = "This link has reached its size limit"


def new_token() -> Token:
    """128 random bits as 22 URL-safe characters: nobody guesses one."""
    return Token(secrets.token_urlsafe(16))


def check_alias(written: str) -> Alias:
    """As it stands in the address; upper and lower case are the same. Empty is none."""
    alias = written.strip().lower()
    if alias and not _ALIAS.fullmatch(alias):
        limits = f"{MIN_ALIAS_CHARACTERS} to {MAX_ALIAS_CHARACTERS}"
        raise TextUnfit(f"Use {limits} letters from a to z, digits and hyphens between them.", field="alias")
    return Alias(alias)


def check_name(written: str) -> str:
    """The name that visitors see instead of the thing's own: one line. Empty keeps the own name."""
    name = " ".join(unicodedata.normalize("NFC", _without_unseen(written)).split())
    if len(name) > MAX_NAME_CHARACTERS:
        raise TextUnfit(f"Use a name of up to {MAX_NAME_CHARACTERS} characters.", field="name")
    return name


def check_note(written: str) -> str:
    """A note for visitors, with line breaks if needed."""
    note = _without_unseen(written).strip()
    if len(note) > MAX_NOTE_CHARACTERS:
        raise TextUnfit(f"Use a note of up to {MAX_NOTE_CHARACTERS} characters.", field="note")
    return note


def check_password(written: str) -> str:
    is_storable = not any(unicodedata.category(letter) == "Cs" for letter in written)
    if not MIN_PASSWORD_CHARACTERS <= len(written) <= MAX_PASSWORD_CHARACTERS or not is_storable:
        limits = f"{MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS}"
        raise TextUnfit(f"Choose a password of {limits} characters.", field="password")
    return written


def _without_unseen(written: str) -> str:
    """Without invisible characters: marks that reverse text could make a note look like words of this server."""
    return "".join(
        letter
        for letter in written
        if letter in _JOINERS or letter.isspace() or unicodedata.category(letter) not in _UNSEEN
    )
