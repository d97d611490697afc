"""Create a link: find what it leads to, and read its limits from the options."""

import re
from collections.abc import Callable

from satchel.cli.engine.api_types.link_types import LinkView
from satchel.cli.engine.api_types.room_types import OwnedRooms
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import find_album
from satchel.cli.engine.resources.room_join import letters_of
from satchel.cli.engine.resources.shelf_paths import Places
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused
from satchel.cli.links.link_expiry import moment_of

ANY = "any"
_A_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOST_DOWNLOADS = 100_000
_MOST_BYTES = 10**15
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def give(client: Client, thing: dict[str, str], conditions: dict[str, object]) -> LinkView:
    return client.make("/links", LinkView, {"thing": thing, **conditions})


def shelf_thing(client: Client, path: str, *, ask: bool) -> dict[str, str]:
    """A file or a folder of the shelf; with `ask`, the folder that files are asked into."""
    places = Places(client)
    if not ask:
        entry = places.wanted(path)
        return {"kind": entry.kind, "id": entry.id}
    entry = places.wanted_or_made(path)
    if entry.kind != "folder":
        raise CommandFailed(f"{path} is a file. --ask needs a folder.")
    return {"kind": "request", "id": entry.id}


def own_room(client: Client, code: str) -> dict[str, str]:
    letters = letters_of(code)
    for room in client.call("GET", "/rooms/mine", OwnedRooms).rooms:
        if room.code == letters:
            return {"kind": "room", "id": room.room_id}
    raise CommandFailed(f"You have no open room {letters}. Only the owner of a room can create links to it.")


def own_album(client: Client, typed: str) -> dict[str, str]:
    found = find_album(client, typed)
    if found.role != "owner":
        raise CommandFailed(f"{found.name} belongs to {found.owner_name}. Only they can create links to it.")
    return {"kind": "album", "id": found.album_id}


def conditions(
    *,
    expires: str | None,
    starts: str | None,
    downloads: str | None,
    up_to: str | None,
    note: str | None,
    name: str | None,
    alias: str | None,
) -> dict[str, object]:
    """As the API takes them; what is None is left as it is."""
    readings: dict[str, tuple[str | None, Callable[[str], object]]] = {
        "expires_at": (expires, moment_of),
        "starts_at": (starts, _start_of),
        "alias": (alias, str),
        "downloads": (downloads, _downloads),
        "max_bytes": (up_to, _bytes_of),
        "note": (note, str),
        "name": (name, str),
    }
    return {key: read(written) for key, (written, read) in readings.items() if written is not None}


def _start_of(written: str) -> str | None:
    """A day means its beginning here, and its end where a link expires."""
    day = written.strip()
    return moment_of(f"{day}T00:00" if _A_DAY.fullmatch(day) else day)


def _downloads(written: str) -> int | None:
    """None for as many as people like."""
    if written == ANY:
        return None
    return whole_number("--downloads", written, least=1, most=_MOST_DOWNLOADS)


def _bytes_of(written: str) -> int | None:
    number = written.strip().lower().removesuffix("b").strip()
    if number == ANY:
        return None
    unit = number[-1:] if number[-1:].isalpha() else ""
    figure = number.removesuffix(unit).strip()
    is_figure = figure.isascii() and figure.replace(".", "", 1).isdecimal()
    size_bytes = int(float(figure) * _UNITS[unit]) if unit in _UNITS and is_figure else 0
    if not 0 < size_bytes <= _MOST_BYTES:
        raise Misused(f"--up-to takes a size such as 500MB or 2GB, up to 1000TB, or {ANY}, not {written!r}.")
    return size_bytes
