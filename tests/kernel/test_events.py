"""Facts reach those who want to hear them, and nothing that a hearer does undoes a fact."""

from dataclasses import dataclass

from satchel.kernel.errors import NotFound
from satchel.kernel.events import Event, Events


@dataclass(frozen=True, slots=True)
class DoorOpened(Event):
    by: str


@dataclass(frozen=True, slots=True)
class DoorClosed(Event):
    by: str


async def test_everybody_who_listens_hears_a_fact_of_their_kind_before_the_publisher_goes_on() -> None:
    events = Events()
    heard: list[str] = []

    async def note(event: DoorOpened) -> None:
        heard.append(event.by)

    events.on(DoorOpened, note)
    events.on(DoorOpened, note)
    await events.publish(DoorClosed("bob"))
    await events.publish(DoorOpened("ann"))
    assert heard == ["ann", "ann"]


async def test_a_hearer_who_fails_keeps_neither_the_others_nor_the_publisher_from_going_on() -> None:
    events = Events()
    heard: list[str] = []

    async def fail(_: DoorOpened) -> None:
        raise NotFound("There is no such door.")

    async def note(event: DoorOpened) -> None:
        heard.append(event.by)

    events.on(DoorOpened, fail)
    events.on(DoorOpened, note)
    await events.publish(DoorOpened("ann"))
    assert heard == ["ann"]
