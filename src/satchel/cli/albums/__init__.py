"""`satchel album`: list and show albums, change them after seeing what would move, undo, share, pin, and check."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, JsonLines, Limit, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, print_json, printable

# As in `account`, what takes long to load is imported inside the verbs.

album = verb_group("album", no_args_is_help=True, help="List, change and share albums of photos.")
Album = Annotated[str, typer.Argument(metavar="ALBUM", help="Its name, its folder, or its id.")]
From = Annotated[str | None, typer.Option("--from", metavar="DAY", help="The first day, such as 2025-07-14.")]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="DAY", help="The last day, included; or a time, such as 2025-07-20T18:00."),
]
Folder = Annotated[str | None, typer.Option("--folder", metavar="NAME", help="The folder. Default: month and name.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
Quarters = Annotated[
    bool, typer.Option("--quarters", help="Make albums of a quarter year for photos that would be in none.")
]
Email = Annotated[str, typer.Argument(metavar="E-MAIL", help="The address of the person.")]


@album.command("list", cls=Verb)
def list_(
    mine: Annotated[bool, typer.Option("--mine", help="Only your own.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """List your albums and those shared with you, newest first."""
    from satchel.cli.albums.album_text import columns
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import all_albums

    with open_client(server) as client:
        found = all_albums(client, mine=mine)
    answer({"albums": found}, columns(found), as_json=json)


@album.command(cls=Verb)
def show(name: Album, json: Json = False, server: Server = None) -> None:
    """Show an album: its dates, who sees it, and its photos per day."""
    from msgspec import to_builtins

    from satchel.cli.albums.album_medias import count_days
    from satchel.cli.albums.album_text import details
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album

    with open_client(server) as client:
        found = find_album(client, name)
        days = count_days(client, found.album_id)
    answer({**to_builtins(found), "days": days}, details(found, days), as_json=json)


@album.command(cls=Verb)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    start: From = None,
    end: To = None,
    folder: Folder = None,
    yes: Yes = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Create an album for some days. Photos of these days move into it."""
    from satchel.cli.albums.album_acts import AlbumAct
    from satchel.cli.albums.album_days import end_of, start_of
    from satchel.cli.engine.http.client import open_client

    if not start or not end:
        raise Misused("An album has a first and a last day: give --from and --to.")
    change: dict[str, object] = {"name": name, "start": start_of(start), "end": end_of(end), "folder": folder or ""}
    with open_client(server) as client:
        act = AlbumAct(client, yes=yes, as_json=json)
        act.run({"kind": "create", **change}, "POST", "/albums", change, done=f"The album {printable(name)} is made.")


@album.command(cls=Verb)
def rename(
    name: Album,
    new: Annotated[str | None, typer.Argument(metavar="NAME", help="What it is to be called.")] = None,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="NAME", help='Another folder; "" is made of month and name.')
    ] = None,
    yes: Yes = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Rename an album, or its folder. The old folder still leads to it."""
    if new is None and folder is None:
        raise Misused("Say how it is to be called, or give --folder.")
    change: dict[str, object] = {} if new is None else {"name": new}
    _change(name, change if folder is None else {**change, "folder": folder}, server, yes=yes, as_json=json)


@album.command(cls=Verb)
def dates(
    name: Album,
    start: From = None,
    end: To = None,
    quarters: Quarters = False,
    yes: Yes = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Change the days of an album. Photos move as they say."""
    from satchel.cli.albums.album_days import end_of, start_of

    if not start and not end:
        raise Misused("Say what to change: give --from, --to or both.")
    change: dict[str, object] = {"start": start_of(start)} if start else {}
    change |= {"end": end_of(end)} if end else {}
    _change(name, change, server, quarters=quarters, yes=yes, as_json=json)


@album.command(cls=Verb)
def delete(
    name: Album, quarters: Quarters = False, yes: Yes = False, json: Json = False, server: Server = None
) -> None:
    """Delete an album. Its photos move into others; none is deleted."""
    from satchel.cli.albums.album_acts import AlbumAct
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album

    with open_client(server) as client:
        found = find_album(client, name)
        plan = {"kind": "delete", "album_id": found.album_id}
        act = AlbumAct(client, yes=yes, as_json=json, quarters=quarters)
        done = f"The album {printable(found.name)} is deleted."
        act.run(plan, "DELETE", f"/albums/{found.album_id}", None, done=done)


@album.command(cls=Verb)
def changes(limit: Limit = "20", json: JsonLines = False, server: Server = None) -> None:
    """List the changes of your albums in the last 30 days, the last first, with what undoes each."""
    from msgspec.json import encode

    from satchel.cli.albums.album_changes import change_lines, last_changes
    from satchel.cli.engine.http.client import open_client

    most = whole_number("--limit", limit, least=1)
    with open_client(server) as client:
        found = last_changes(client, most)
    lines = (encode(each).decode() for each in found) if json else change_lines(found)
    for line in lines:
        print(line)


@album.command(cls=Verb)
def undo(
    act_id: Annotated[str, typer.Argument(metavar="ACT", help="The id that the change has printed.")],
    quarters: Quarters = False,
    yes: Yes = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Undo a change of an album. A deleted one returns with its people."""
    from satchel.cli.albums.album_acts import AlbumAct
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        act = AlbumAct(client, yes=yes, as_json=json, quarters=quarters)
        body = {"quarters": quarters}
        act.run({"kind": "undo", "act_id": act_id}, "POST", f"/albums/acts/{act_id}/undo", body, done="It is undone.")


@album.command(cls=Verb)
def share(
    name: Album,
    email: Email,
    contributor: Annotated[bool, typer.Option("--contributor", help="They may add photos, too.")] = False,
    with_location: Annotated[
        bool | None,
        typer.Option(
            "--with-location/--without-location",
            help="Whether all who see the album get originals that say where they were taken. By default they do not.",
        ),
    ] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Share an album with a person, who may get an account later."""
    from urllib.parse import quote

    from satchel.cli.engine.api_types.album_types import ActedView, AlbumShareView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album

    with open_client(server) as client:
        found = find_album(client, name)
        path = f"/albums/{found.album_id}/shares/{quote(email, safe='')}"
        role = "contributor" if contributor else "visitor"
        shared = client.call("PUT", path, AlbumShareView, {"role": role})
        if with_location is not None:
            client.call("PATCH", f"/albums/{found.album_id}", ActedView, {"with_location": with_location})
    can = "sees it and may add photos" if shared.role == "contributor" else "sees it"
    unknown = "" if shared.name else " They have no account yet."
    answer(shared, [printable(f"{found.name}: {shared.email} {can}.{unknown}")], as_json=json)


@album.command(cls=Verb)
def unshare(name: Album, email: Email, json: Json = False, server: Server = None) -> None:
    """Stop sharing an album with a person."""
    from urllib.parse import quote

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album

    with open_client(server) as client:
        found = find_album(client, name)
        if found.role != "owner":
            raise CommandFailed(f"{found.name} belongs to {found.owner_name}. `satchel album leave` leaves it.")
        if email.strip().casefold() not in {reader.email.casefold() for reader in found.people}:
            raise CommandFailed(f"{found.name} is not shared with {email}.")
        client.call("DELETE", f"/albums/{found.album_id}/shares/{quote(email, safe='')}", type(None))
    if json:
        print_json({"album_id": found.album_id, "unshared": email})
    else:
        print(printable(f"{email} does not see {found.name} any more."))


@album.command(cls=Verb)
def leave(name: Album, yes: Yes = False, json: Json = False, server: Server = None) -> None:
    """Leave an album that somebody shares with you."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album
    from satchel.cli.engine.terminal.prompts import confirm

    with open_client(server) as client:
        found = find_album(client, name)
        if found.role == "owner":
            raise CommandFailed(f"{found.name} is yours. `satchel album unshare` stops sharing it with a person.")
        if not yes:
            confirm(f"You would not see {found.name} any more, until {found.owner_name} shares it again.")
        client.call("DELETE", f"/albums/{found.album_id}/membership", type(None))
    if json:
        print_json({"album_id": found.album_id, "left": True})
    else:
        print(printable(f"You have left {found.name}."))


@album.command(cls=Verb)
def pin(
    name: Album,
    files: Annotated[list[str], typer.Argument(metavar="PHOTO", help="Ids of photos, or files that are stored.")],
    remove: Annotated[bool, typer.Option("--remove", help="Let their dates decide again.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Keep photos in an album against their dates."""
    from msgspec import to_builtins

    from satchel.cli.engine.api_types.album_types import PinView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import album_names, find_album
    from satchel.cli.engine.resources.media_find import media_id_of

    with open_client(server) as client:
        found = find_album(client, name)
        media_ids = {file: media_id_of(client, file) for file in files}
        method = "DELETE" if remove else "PUT"
        pins = {
            file: client.call(method, f"/albums/{found.album_id}/pins/{media_id}", PinView)
            for file, media_id in media_ids.items()
        }
        names = album_names(client)
    if json:
        print_json({"pins": [to_builtins(pinned) for pinned in pins.values()]})
        return
    for file, pinned in pins.items():
        stays = "stays" if pinned.pinned else "is by its date"
        print(printable(f"{file} {stays} in {names.get(pinned.album_id, pinned.album_id)}."))


@album.command(cls=Verb)
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Correct what is wrong.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Count all your photos, and compare with the stored counts and shares. Exits with 1 if something is wrong."""
    from msgspec import to_builtins

    from satchel.cli.albums.album_changes import drift_lines
    from satchel.cli.engine.api_types.album_types import DriftList
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import album_names

    with open_client(server) as client:
        found = client.call("POST", "/albums/check", DriftList, {"repair": repair}).drifts
        names = album_names(client)
    answer({"drifts": to_builtins(found)}, drift_lines(found, names), as_json=json)
    if not all(drift.repaired for drift in found):
        raise CommandFailed("Not all is as it should be. `satchel album check --repair` corrects it.")


def _change(
    typed: str,
    change: dict[str, object],
    server: str | None,
    *,
    yes: bool,
    as_json: bool,
    quarters: bool = False,
) -> None:
    from satchel.cli.albums.album_acts import AlbumAct
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.album_find import find_album

    with open_client(server) as client:
        found = find_album(client, typed)
        plan = {"kind": "change", "album_id": found.album_id, **change}
        act = AlbumAct(client, yes=yes, as_json=as_json, quarters=quarters)
        done = f"The album {printable(str(change.get('name', found.name)))} is changed."
        act.run(plan, "PATCH", f"/albums/{found.album_id}", change, done=done)
