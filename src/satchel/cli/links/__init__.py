"""`satchel link` and `links`: create links, list them with their counts, change and revoke them."""

from itertools import islice
from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Limit, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import Misused, answer

# As in `account`, what takes long to load is imported inside the verbs.

links = verb_group("links", invoke_without_command=True)
Id = Annotated[
    str, typer.Argument(metavar="LINK", help="Its address, its id, or the end of the id as the list shows it.")
]
Expires = Annotated[
    str | None,
    typer.Option("--expires", metavar="TIME", help="When it expires: in 12h, 7d or 2w, on 2026-12-24, or never."),
]
Downloads = Annotated[
    str | None, typer.Option("--downloads", metavar="NUMBER", help="The download limit: a number, or any.")
]
UpTo = Annotated[
    str | None,
    typer.Option("--up-to", metavar="SIZE", help="With --ask: the limit of all uploads, such as 2GB, or any."),
]
Starts = Annotated[
    str | None,
    typer.Option("--starts", metavar="TIME", help="Do not open before: in 12h, on 2026-12-24T18:00, or never."),
]
Alias = Annotated[
    str | None,
    typer.Option(
        "--alias", metavar="WORD", help="A word of yours in the address. Others may guess it: set a password."
    ),
]
Note = Annotated[str | None, typer.Option("--note", metavar="TEXT", help="A message for visitors.")]
Called = Annotated[str | None, typer.Option("--name", metavar="NAME", help="The name that visitors see.")]


def link(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A file or folder of your shelf, by name or path.")
    ] = None,
    room: Annotated[str | None, typer.Option("--room", metavar="CODE", help="Link to a room of yours instead.")] = None,
    album: Annotated[
        str | None, typer.Option("--album", metavar="ALBUM", help="Link to an album of yours instead.")
    ] = None,
    may_add: Annotated[bool, typer.Option("--may-add", help="With --album: visitors may add photos.")] = False,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask for files into the folder, created if missing; visitors see none.")
    ] = False,
    password: Annotated[
        bool, typer.Option("--password", help="Set a password: SATCHEL_LINK_PASSWORD, else asked for.")
    ] = False,
    expires: Expires = None,
    downloads: Downloads = None,
    up_to: UpTo = None,
    note: Note = None,
    name: Called = None,
    alias: Alias = None,
    starts: Starts = None,
    no_qr: Annotated[bool, typer.Option("--no-qr", help="Show no QR code.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Create a link to a file, a folder, a room or an album, or ask for files.

    Nobody needs an account to open it. `satchel links` and `satchel stats` show how often it was opened.
    """
    if [path, room, album].count(None) != 2:
        raise Misused("Say what the link is for: a path of your shelf, a room with --room, or an album with --album.")
    if ask and path is None:
        raise Misused("--ask needs a folder of your shelf.")
    if may_add and album is None:
        raise Misused("--may-add needs --album.")
    if up_to and not ask:
        raise Misused("--up-to needs --ask.")
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_password import new_password
    from satchel.cli.links.link_create import conditions, give, own_album, own_room, shelf_thing
    from satchel.cli.links.link_text import invitation

    how = conditions(
        expires=expires, starts=starts, downloads=downloads, up_to=up_to, note=note, name=name, alias=alias
    )
    if may_add:
        how["may_add"] = True
    with open_client(server) as client:
        if album is not None:
            thing = own_album(client, album)
        else:
            thing = own_room(client, room) if room else shelf_thing(client, path or "", ask=ask)
        given = give(client, thing, {**how, "password": new_password()} if password else how)
    answer(given, invitation(given, qr=not no_qr), as_json=json)


@links.callback()
def list_links(
    context: typer.Context,
    limit: Limit = "25",
    json: Json = False,
    server: Server = None,
) -> None:
    """List your links, newest first, and manage them."""
    if context.invoked_subcommand is not None:
        return
    most = whole_number("--limit", limit)
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import every_link
    from satchel.cli.links.link_text import columns

    with open_client(server) as client:
        found = list(islice(every_link(client), most))
    answer({"links": found}, columns(found), as_json=json)


@links.command(cls=Verb)
def show(link: Id, json: Json = False, server: Server = None) -> None:
    """Show one link, and how often it was opened."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import find
    from satchel.cli.links.link_text import details

    with open_client(server) as client:
        found = find(client, link)
    answer(found, details(found), as_json=json)


@links.command(cls=Verb)
def pause(link: Id, json: Json = False, server: Server = None) -> None:
    """Pause a link, until you resume it."""
    _change(link, {"paused": True}, server, as_json=json)


@links.command(cls=Verb)
def resume(link: Id, json: Json = False, server: Server = None) -> None:
    """Resume a paused link."""
    _change(link, {"paused": False}, server, as_json=json)


@links.command(cls=Verb)
def extend(
    link: Id,
    until: Annotated[str, typer.Argument(metavar="TIME", help="In 12h, 7d or 2w from now, on 2026-12-24, or never.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Change when a link expires."""
    from satchel.cli.links.link_expiry import moment_of

    _change(link, {"expires_at": moment_of(until)}, server, as_json=json)


@links.command(cls=Verb)
def change(
    link: Id,
    password: Annotated[
        bool, typer.Option("--password", help="Set a new password: SATCHEL_LINK_PASSWORD, else asked for.")
    ] = False,
    no_password: Annotated[bool, typer.Option("--no-password", help="Remove the password.")] = False,
    expires: Expires = None,
    downloads: Downloads = None,
    up_to: UpTo = None,
    note: Note = None,
    name: Called = None,
    alias: Alias = None,
    starts: Starts = None,
    badge: Annotated[bool, typer.Option("--badge", help="Offer a public counter, as an image for any page.")] = False,
    no_badge: Annotated[bool, typer.Option("--no-badge", help="Remove the public counter.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Change the settings of a link."""
    if (password and no_password) or (badge and no_badge):
        raise Misused("An option and its opposite exclude each other.")
    from satchel.cli.engine.resources.link_password import new_password
    from satchel.cli.links.link_create import conditions

    wanted = conditions(
        expires=expires, starts=starts, downloads=downloads, up_to=up_to, note=note, name=name, alias=alias
    )
    if badge or no_badge:
        wanted["badge"] = badge
    if password or no_password:
        wanted["password"] = new_password() if password else None
    if not wanted:
        raise Misused("Say what to change: see `satchel links change --help`.")
    _change(link, wanted, server, as_json=json)


@links.command("give-back", cls=Verb)
def give_back(link: Id, json: Json = False, server: Server = None) -> None:
    """Give back the places of downloads that were broken off, so that others can download."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import find
    from satchel.cli.links.link_places import give_all_back
    from satchel.cli.links.link_text import details

    with open_client(server) as client:
        found = find(client, link)
        given_back = give_all_back(client, found.link_id)
        now = find(client, found.link_id)
    answer({"given_back": given_back, "link": now}, details(now), as_json=json)


@links.command(cls=Verb)
def revoke(link: Id, json: Json = False, server: Server = None) -> None:
    """Revoke a link for good; visitors are told so."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import find
    from satchel.cli.links.link_text import details

    with open_client(server) as client:
        found = find(client, link)
        client.call("DELETE", f"/links/{found.link_id}", type(None))
        now = find(client, found.link_id)
    answer(now, islice(details(now), 1), as_json=json)


def _change(typed: str, wanted: dict[str, object], server: str | None, *, as_json: bool) -> None:
    from satchel.cli.engine.api_types.link_types import LinkView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_find import find
    from satchel.cli.links.link_text import details

    with open_client(server) as client:
        now = client.call("PATCH", f"/links/{find(client, typed).link_id}", LinkView, wanted)
    answer(now, details(now), as_json=as_json)
