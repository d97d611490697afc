"""What has changed in a room, in words. A server only says that something has, so two states are compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins

from satchel.cli.engine.api_types.room_types import OccupantView, RoomView
from satchel.cli.rooms.room_text import named, shown_until


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence for people; a kind and facts for machines."""

    kind: str
    sentence: str
    facts: dict[str, Any]


def changes(before: RoomView, now: RoomView) -> Iterator[Change]:
    yield from _comings_and_goings(before, now)
    knocked = {knock.person_id for knock in before.knocks}
    for knock in now.knocks:
        if knock.person_id not in knocked:
            hint = f"Let them in with `satchel room admit {knock.name}`."
            who = named(knock.person_id, knock.name)
            yield Change("knock", f"{who} knocks. {hint}", {"knock": to_builtins(knock)})
    yield from _settings(before, now)


def _comings_and_goings(before: RoomView, now: RoomView) -> Iterator[Change]:
    earlier = {person.person_id: person for person in before.people}
    present = {person.person_id: person for person in now.people}
    for person_id, person in present.items():
        if person_id == now.you:
            continue
        if person_id not in earlier:
            yield _of(person, "came", "joined")
        elif person.here and not earlier[person_id].here:
            yield _of(person, "back", "is back")
        elif not person.here and earlier[person_id].here:
            yield _of(person, "away", "is away")
    for person_id, person in earlier.items():
        if person_id not in present:
            yield Change("left", f"{named(person_id, person.name)} left the room.", {"person": to_builtins(person)})


def _settings(before: RoomView, now: RoomView) -> Iterator[Change]:
    def changed(sentence: str, **facts: Any) -> Change:
        return Change("settings", sentence, facts)

    if now.name != before.name:
        yield changed(f"The room is now called {now.name}.", name=now.name)
    if now.code != before.code:
        yield changed(f"The code of the room is now {now.code}.", code=now.code, link=now.link)
    if now.expires_at != before.expires_at:
        yield changed(f"The room is now open until {shown_until(now.expires_at)}.", expires_at=now.expires_at)
    if now.locked != before.locked:
        yield changed("The room is now locked." if now.locked else "The room is no longer locked.", locked=now.locked)
    if now.admits != before.admits:
        how = "People have to knock now." if now.admits == "knock" else "Anyone with the code can join now."
        yield changed(how, admits=now.admits)


def _of(person: OccupantView, kind: str, what: str) -> Change:
    devices = f" ({', '.join(person.devices)})" if person.here and person.devices else ""
    who = named(person.person_id, person.name)
    return Change(kind, f"{who} {what}{devices}.", {"person": to_builtins(person)})
