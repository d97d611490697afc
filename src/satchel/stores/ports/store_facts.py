"""What a shared store can tell of itself, by which a set-up is judged. Embedded stores have nothing to tell."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class TellsTime(Protocol):
    """A store on another machine, which has a clock of its own."""

    async def time(self) -> float | None:
        """The seconds since 1970 by its clock, to the second at least; None if it does not say."""
        ...


@dataclass(frozen=True, slots=True)
class Keeping:
    """How well an ephemeral store keeps what it was given; None where it does not say."""

    survives_restart: bool | None
    eviction: str | None


@runtime_checkable
class TellsKeeping(Protocol):
    """An ephemeral store whose administrator decides what it keeps."""

    async def keeping(self) -> Keeping: ...
