"""What clicks need of other slices: whose a link is, what it leads to, and a limit on calls."""

from collections.abc import Sequence
from typing import Protocol


class Limit(Protocol):
    """A bound on how often something may be done by one subject."""

    async def count(self, subject: str) -> None:
        """Count one call; raise `TooMany` if there were too many."""
        ...

    async def count_guest(self, address: str, number: int) -> None:
        """Count clicks of a guest; raises `TooMany` when there are too many from their network today."""
        ...


class PageLimit(Protocol):
    """A bound on what pages of other sites send."""

    async def count_sender(self, address: str) -> None:
        """Count one call; raise `TooMany` if there were too many from that network."""
        ...

    async def count_counter(self, counter_id: str, address: str, most: int) -> None:
        """Count one click; raise `TooMany` if the counter has had `most` today, or that network its share of them."""
        ...


class VisitorIds(Protocol):
    """Tells readers without an account apart, without storing their address."""

    async def visitor_of(self, address: str, agent: str) -> str: ...


class Titled(Protocol):
    """A link by the name that its owner knows, and what it leads to."""

    @property
    def link_id(self) -> str: ...

    @property
    def name(self) -> str:
        """The link's own, or what the thing is called."""
        ...

    @property
    def thing(self) -> str:
        """Such as "file:…"."""
        ...

    @property
    def thing_name(self) -> str: ...


class Targets(Protocol):
    """The links that people have given out."""

    async def thing_of(self, owner_id: str, target: str) -> str | None:
        """What this link of theirs leads to, such as "file:…"; None if they have no such link."""
        ...

    async def has_thing(self, owner_id: str, thing: str) -> bool:
        """Whether they have such a thing, or have given a link to it."""
        ...

    async def titles(self, owner_id: str, at_most: int) -> Sequence[Titled]:
        """The links that somebody has given, the newest first. Revoked ones too, since their clicks still count."""
        ...

    async def link_of_badge(self, badge_id: str) -> str | None:
        """The link whose counter its owner shows to everybody under this id."""
        ...
