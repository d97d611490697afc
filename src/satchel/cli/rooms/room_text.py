"""A room in a terminal: its code in large letters, a QR code, its people and its files."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from satchel.cli.engine.api_types.room_types import FileView, OccupantView, RoomView
from satchel.cli.engine.files.download import full_name
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.qr_code import qr_code
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment


def invitation(room: RoomView) -> Iterator[str]:
    """What others need to come in."""
    if not sys.stdout.isatty():
        yield from (room.code, room.link)
        return
    yield from (f"  {line}" for line in _tiles(room.code))
    yield ""
    yield from qr_code(room.link)
    yield ""
    yield f"  {room.link}"


def headline(room: RoomView) -> str:
    name = printable(room.name)
    title = f"{name} ({room.code})" if name and name != room.code else f"Room {room.code}"
    remarks = [
        f"open until {shown_until(room.expires_at)}",
        *(["locked"] if room.locked else []),
        *(["people knock to join"] if room.admits == "knock" else []),
        shown_bytes(room.used_bytes) + (f" of {shown_bytes(room.quota_bytes)}" if room.quota_bytes else "") + " used",
    ]
    return f"{paint(title, 'strong')}, {', '.join(remarks)}"


def people(room: RoomView) -> Iterator[str]:
    """Those who are here first."""
    for person in sorted(room.people, key=lambda each: not each.here):
        yield f"  {_described(person, room)}"
    for knock in room.knocks:
        hint = f"Let them in with `satchel room admit {knock.name}`."
        yield printable(f"  {named(knock.person_id, knock.name)} knocks. {hint}")


def files(found: Sequence[FileView], room: RoomView) -> Iterator[str]:
    names = [printable(full_name(file)) for file in found]
    bringers = [printable(_bringer(file, room)) for file in found]
    by_width = min(20, max(map(shown_width, bringers), default=0))
    widest = room_for(max(map(shown_width, names), default=0), 2 + 7 + 2 + by_width + 2 + 16)
    for file, name, bringer in zip(found, names, bringers, strict=True):
        moment = paint(shown_moment(file.at), "quiet")
        yield f"{fitted(name, widest)}  {shown_bytes(file.size_bytes):>7}  {fitted(bringer, by_width)}  {moment}"


def named(person_id: str, name: str) -> str:
    """The name of somebody who says or brings something. A guest may call themselves as they like."""
    return f"{name} (guest)" if is_guest(person_id) else name


def is_guest(person_id: str) -> bool:
    return person_id.startswith("guest-")


def time_left(room: RoomView) -> timedelta:
    return datetime.fromisoformat(room.expires_at) - datetime.now(UTC)


def shown_until(iso: str) -> str:
    moment = datetime.fromisoformat(iso).astimezone()
    is_today = moment.date() == datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")


def _described(person: OccupantView, room: RoomView) -> str:
    remarks = [
        *(["you"] if person.person_id == room.you else []),
        *(["owner"] if person.is_owner else []),
        *(["guest"] if person.kind == "guest" else []),
        *(person.devices if person.here else ["away"] if person.person_id != room.you else []),
    ]
    mark = paint("●", "good") if person.here else paint("○", "quiet")
    return f"{mark} {printable(person.name)}" + (f" ({printable(', '.join(remarks))})" if remarks else "")


def _bringer(file: FileView, room: RoomView) -> str:
    called = {person.person_id: person.name for person in room.people} | {room.you: "you"}
    bringer = "you" if file.by == room.you else named(file.by, called.get(file.by, file.by_name))
    return f"{bringer}, for {called.get(file.to, 'somebody who left')}" if file.to else bringer


def _tiles(code: str) -> Iterator[str]:
    yield "┌" + "┬".join(["───"] * len(code)) + "┐"
    yield "│" + "│".join(f" {paint(letter, 'strong')} " for letter in code) + "│"
    yield "└" + "┴".join(["───"] * len(code)) + "┘"
