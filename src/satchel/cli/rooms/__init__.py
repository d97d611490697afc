"""`satchel room`: open, join, watch, change, leave and close rooms, from a terminal."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import Json, JsonLines, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, answer, note, print_json, printable

if TYPE_CHECKING:
    from satchel.cli.engine.api_types.room_types import RoomView
    from satchel.cli.engine.http.client import Client

# As in `account`, what takes long to load is imported inside the verbs.

room = verb_group("room", no_args_is_help=True, help="Meet others in a room, and share files and messages.")
AsGuest = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Your name as a guest, if you are not signed in.")
]
Save = Annotated[
    str | None,
    typer.Option("--save", metavar="FOLDER", help="Save and verify there what others put into the room."),
]


@room.command("open", cls=Verb)
def open_room(
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the room.")] = "",
    hours: Annotated[str, typer.Option("--hours", metavar="NUMBER", help="How long it stays open.")] = "8",
    knock: Annotated[bool, typer.Option("--knock", help="Admit people one by one, when they knock.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, and watch what happens in it.")] = False,
    save: Save = None,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Open a room, and show its code and its link."""
    from satchel.cli.engine.api_types.room_types import RoomView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.rooms.room_text import headline, invitation

    body = {"name": name, "hours": whole_number("--hours", hours), "admits": "knock" if knock else "anyone"}
    with open_client(server) as client:
        opened = client.make("/rooms", RoomView, {key: value for key, value in body.items() if value})
        if not json:
            print(headline(opened))
            print("\n".join(["", *invitation(opened), ""]))
        elif not watch:
            _print_room(opened)
        if watch or save:
            _watch(client, opened, save, json=json)


@room.command(cls=Verb)
def join(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The five letters of the room.")],
    name: AsGuest = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Join a room, and show who and what is in it.

    You are in one room at a time. Joining another leaves the one before.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import enter

    with open_client(server) as client:
        entered = enter(client, code, name)
        if json:
            _print_room(entered)
        else:
            _show(client, entered)


@room.command(cls=Verb)
def watch(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="Default: the room that you are in.")] = None,
    save: Save = None,
    name: AsGuest = None,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Watch what happens in a room, until Ctrl-C.

    Afterwards you are still in the room; `satchel room leave` leaves it.
    """
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room, enter

    with open_client(server) as client:
        watched = enter(client, code, name) if code else current_room(client)
        if not json:
            _show(client, watched)
        _watch(client, watched, save, json=json)


@room.command(cls=Verb)
def say(
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="What to say.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Send a message to everybody in your room."""
    from msgspec import to_builtins

    from satchel.cli.engine.api_types.room_types import Message
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room

    with open_client(server) as client:
        path = f"/rooms/{current_room(client).room_id}/chat"
        said = client.make(path, Message, {"text": " ".join(words)})
        if json:
            print_json(to_builtins(said))


@room.command(cls=Verb)
def ls(json: Json = False, server: Server = None) -> None:
    """List who and what is in your room."""
    from msgspec import to_builtins

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room, files_in

    with open_client(server) as client:
        current = current_room(client)
        if json:
            print_json({"room": to_builtins(current), "files": to_builtins(files_in(client, current.room_id))})
        else:
            _show(client, current)


@room.command(cls=Verb)
def admit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the person.")],
    server: Server = None,
    json: Json = False,
) -> None:
    """Admit somebody who knocks at your room."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room

    with open_client(server) as client:
        current = current_room(client)
        knocks = [each for each in current.knocks if each.name.casefold() == name.strip().casefold()]
        if not knocks:
            raise CommandFailed(f"Nobody called {name} is knocking.")
        for each in knocks:
            client.call("POST", f"/rooms/{current.room_id}/knocks/{each.person_id}/admit", type(None))
            if not json:
                print(printable(f"{each.name} was admitted."))
        if json:
            print_json({"admitted": [each.person_id for each in knocks]})


@room.command(cls=Verb)
def lock(json: Json = False, server: Server = None) -> None:
    """Lock your room, so that nobody else joins it."""
    _change(server, {"locked": True}, "{room} is locked. Nobody else can join it.", as_json=json)


@room.command(cls=Verb)
def unlock(json: Json = False, server: Server = None) -> None:
    """Unlock your room."""
    _change(server, {"locked": False}, "{room} is unlocked.", as_json=json)


@room.command(cls=Verb)
def extend(
    hours: Annotated[str, typer.Option("--hours", metavar="NUMBER", help="How long it stays open, from now.")] = "8",
    json: Json = False,
    server: Server = None,
) -> None:
    """Keep your room open for longer, or end it sooner."""
    ends_at = datetime.now(UTC) + timedelta(hours=whole_number("--hours", hours, least=1, most=168))
    change = {"expires_at": ends_at.isoformat(timespec="seconds")}
    _change(server, change, "{room} is open until {until}.", as_json=json)


@room.command(cls=Verb)
def code(json: Json = False, server: Server = None) -> None:
    """Give your room a new code.

    The old code and links with it lead nowhere from then on. Whoever is in the room stays.
    """
    from satchel.cli.engine.api_types.room_types import RoomView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room
    from satchel.cli.rooms.room_text import headline, invitation

    with open_client(server) as client:
        now = client.call("POST", f"/rooms/{current_room(client).room_id}/code", RoomView)
    answer(now, [headline(now), "", *invitation(now)], as_json=json)


@room.command(cls=Verb)
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the person.")],
    new_code: Annotated[
        bool, typer.Option("--new-code", help="Change the code, so that they do not come back under another name.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Remove somebody from your room. They cannot join it again; a guest who has the code can, as another guest."""
    from satchel.cli.engine.api_types.room_types import RoomView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room, person_in
    from satchel.cli.engine.terminal.prompts import confirm
    from satchel.cli.rooms.room_text import is_guest

    with open_client(server) as client:
        current = current_room(client)
        person_id = person_in(current, name)
        if not yes:
            confirm(f"{name} is removed from {current.name or current.code} and cannot join it again.")
        client.call("DELETE", f"/rooms/{current.room_id}/people/{person_id}", type(None))
        told = [f"{name} was removed."]
        now = current
        if new_code:
            now = client.call("POST", f"/rooms/{current.room_id}/code", RoomView)
            told.append(f"The code is now {now.code}.")
        elif is_guest(person_id):
            told.append("Whoever has the code can come back as another guest. `satchel room code` changes it.")
    answer({"removed": person_id, "code": now.code}, list(map(printable, told)), as_json=json)


@room.command(cls=Verb)
def leave(json: Json = False, server: Server = None) -> None:
    """Leave the room that you are in."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room

    with open_client(server) as client:
        current = current_room(client)
        client.call("POST", f"/rooms/{current.room_id}/leave", type(None))
        if json:
            print_json({"left": current.room_id})
        else:
            print(printable(f"You left {current.name or current.code}."))


@room.command(cls=Verb)
def close(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="Default: the room that you are in.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Close a room of yours, and delete what is in it."""
    from satchel.cli.engine.api_types.room_types import OwnedRooms
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room, letters_of

    with open_client(server) as client:
        if code:
            own = client.call("GET", "/rooms/mine", OwnedRooms).rooms
            wanted = next((each for each in own if each.code == letters_of(code)), None)
            if wanted is None:
                raise CommandFailed(f"You have no room {code}.")
        else:
            wanted = current_room(client)
        client.call("DELETE", f"/rooms/{wanted.room_id}", type(None))
        if json:
            print_json({"closed": wanted.room_id})
        else:
            print(f"{wanted.code} is closed. What was in it is deleted.")


def _change(server: str | None, change: dict[str, bool] | dict[str, str], sentence: str, *, as_json: bool) -> None:
    from satchel.cli.engine.api_types.room_types import RoomView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.room_join import current_room
    from satchel.cli.rooms.room_text import shown_until

    with open_client(server) as client:
        now = client.call("PATCH", f"/rooms/{current_room(client).room_id}", RoomView, change)
    told = sentence.format(room=now.name or now.code, until=shown_until(now.expires_at))
    answer(now, [printable(told)], as_json=as_json)


def _print_room(shown: "RoomView") -> None:
    from msgspec import to_builtins

    print_json(to_builtins(shown))


def _show(client: "Client", shown: "RoomView") -> None:
    from satchel.cli.engine.resources.room_join import files_in
    from satchel.cli.rooms.room_text import files, headline, people

    found = files_in(client, shown.room_id)
    print("\n".join([headline(shown), *people(shown)]))
    if found:
        print("\n".join(["", *files(found, shown)]))


def _watch(client: "Client", watched: "RoomView", save: str | None, *, json: bool) -> None:
    from satchel.cli.rooms.narrator import Narrator
    from satchel.cli.rooms.room_save import Saver
    from satchel.cli.rooms.room_watch import Watch

    narrator = Narrator(as_json=json)
    saver = Saver(client, Path(save), narrator) if save else None
    if saver:
        try:
            saver.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandFailed(f"The folder {save} cannot be used: {error.strerror}.") from error
    elif not json:
        note("Ctrl-C stops watching. You stay in the room until `satchel room leave`.")
    try:
        Watch(client, watched, narrator, saver).follow()
    except KeyboardInterrupt:
        # How one ends it, so that nothing has failed.
        note("")
    finally:
        if saver:
            saver.finish()
