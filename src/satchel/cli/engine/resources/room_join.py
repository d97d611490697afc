"""Join a room by its code, signed in or as a guest, and wait to be admitted if need be; who and what is in it."""

from contextlib import closing
from urllib.parse import quote

from satchel.cli.engine.api_types.room_types import FileList, FileView, JoinView, RoomView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.http.live_events import Live
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note


def enter(client: Client, code: str, name: str | None) -> RoomView:
    """The room of this code, which we are in from now on. `name` is what a guest wants to be called."""
    _be_somebody(client, name)
    try:
        joined = _join(client, code)
    except Refused as refusal:
        if client.guest is None or refusal.status != 401:
            raise
        # The pass was for an earlier life of the server.
        client.enter_as_guest(client.guest.name)
        joined = _join(client, code)
    return joined.room or _wait_at_the_door(client, code)


def current_room(client: Client) -> RoomView:
    try:
        return client.call("GET", "/rooms/current", RoomView)
    except Refused as refusal:
        if refusal.slug != "not-in-a-room":
            raise
        raise CommandFailed(
            "You are not in a room. Use `satchel room join CODE`, or open one with `satchel room open`."
        ) from refusal


def files_in(client: Client, room_id: str) -> list[FileView]:
    """All files of a room that we may see, the oldest first."""
    found: list[FileView] = []
    where = f"/rooms/{room_id}/files"
    page = client.call("GET", where, FileList)
    while page.cursor is not None:
        found += page.files
        page = client.call("GET", f"{where}?cursor={quote(page.cursor, safe='')}", FileList)
    return found + list(page.files)


def person_in(room: RoomView, wanted: str) -> str:
    """The id of the other person who is called so; `CommandFailed` if there is none, or several."""
    others = [person for person in room.people if person.person_id != room.you]
    found = [person for person in others if person.name.casefold() == wanted.strip().casefold()]
    if len(found) > 1:
        raise CommandFailed(f"Several people in the room are called {wanted}.")
    if not found:
        names = ", ".join(person.name for person in others) or "nobody else"
        raise CommandFailed(f"Nobody called {wanted} is in the room. In the room: {names}.")
    return found[0].person_id


def _be_somebody(client: Client, name: str | None) -> None:
    if client.session is not None:
        if name:
            note("You are signed in, so the room sees the name of your account. --name is for guests.")
    elif name and (client.guest is None or client.guest.name != name):
        client.enter_as_guest(name)
    elif client.guest is None:
        raise Misused(f"You are not signed in to {client.server}. Use `satchel login`, or join as a guest with --name.")


def letters_of(code: str) -> str:
    """The five letters, however they were typed; also from the end of a link."""
    return "".join(code.partition("#")[0].rpartition("/")[2].split()).replace("-", "").upper()


def _join(client: Client, code: str) -> JoinView:
    return client.call("POST", "/rooms/join", JoinView, {"code": letters_of(code), "key": code.partition("#")[2]})


def _wait_at_the_door(client: Client, code: str) -> RoomView:
    note("You knocked. Waiting for the owner to admit you; Ctrl-C gives up.")
    with closing(Live(client, note).events()) as events:
        for event in events:
            if event is None:
                continue
            if event.type == "room.turned-away":
                raise CommandFailed("The owner did not admit you.")
            if event.asks_for_reload or event.type == "room.admitted":
                room = _room_if_in(client)
                if room and room.code == letters_of(code):
                    return room
    raise AssertionError("what happens on a server never ends")


def _room_if_in(client: Client) -> RoomView | None:
    try:
        return client.call("GET", "/rooms/current", RoomView)
    except Refused as refusal:
        if refusal.slug != "not-in-a-room":
            raise
        return None
