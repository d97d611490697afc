"""An event that one slice counts for another, so that the slice that shares need not know the one that counts."""

from dataclasses import dataclass
from typing import Literal

from satchel.kernel.events import Event

Kind = Literal["press", "open", "view", "download", "upload"]
Device = Literal["phone", "tablet", "computer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted(Event):
    """Who did what, with what, and whose it is. `target` is the link, `thing` what it leads to, such as "file:…".

    What is used within something else counts for both: `thing` is "album:…/photo:…" then.
    `at` is when it happened, if that is not now. Stated again with the same `key`, it counts once. `referrer` is the
    host of the page from which they came, and `device` the class of what they came with, where that is known.
    Whoever counts it deletes the entry of the outbox that it `settles`, then or in the same transaction.
    """

    user_id: str
    kind: Kind
    owner: str
    target: str | None = None
    thing: str | None = None
    at: str | None = None
    key: str | None = None
    referrer: str | None = None
    device: Device | None = None
    settles: str | None = None


def counted_as(person_id: str, kind: str) -> str:
    """The id under which a person is counted: a guest is never taken for a member."""
    return f"guest:{person_id}" if kind == "guest" else person_id
