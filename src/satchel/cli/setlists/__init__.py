"""`satchel setlist`: put scores in the order in which they are played, and export them as one PDF."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.command.typer_internals import Verb, verb_group
from satchel.cli.engine.terminal.output import Misused, answer, printable

# As in `account`, what takes long to load is imported inside the verbs.

setlist = verb_group("setlist", no_args_is_help=True, help="Keep set lists: scores in the order of a concert.")
Name = Annotated[str, typer.Argument(metavar="SETLIST", help="Its name, or its id.")]
Place = Annotated[str, typer.Argument(metavar="PLACE", help="Its place in the list, from 1.")]


@setlist.command("list", cls=Verb)
def list_(json: Json = False, server: Server = None) -> None:
    """List your set lists and those shared with you."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import list_set_lists
    from satchel.cli.setlists.setlist_text import columns

    with open_client(server) as client:
        found = list_set_lists(client)
    answer(found, columns(found.set_lists), as_json=json)


@setlist.command(cls=Verb)
def show(name: Name, json: Json = False, server: Server = None) -> None:
    """Show the scores of a set list in their order."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import find_set_list
    from satchel.cli.setlists.setlist_text import details

    with open_client(server) as client:
        found = find_set_list(client, name)
    answer(found, details(found), as_json=json)


@setlist.command(cls=Verb)
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    scores: Annotated[list[str] | None, typer.Argument(metavar="SCORE", help="Titles or ids, in their order.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Create a set list of scores."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import create_set_list
    from satchel.cli.setlists.setlist_text import details

    with open_client(server) as client:
        made = create_set_list(client, name, scores or [])
    answer(made, details(made), as_json=json)


@setlist.command(cls=Verb)
def add(
    name: Name,
    score: Annotated[str, typer.Argument(metavar="SCORE", help="Its title, or its id.")],
    at: Annotated[
        str | None, typer.Option("--at", metavar="PLACE", help="Before this one. Default: at the end.")
    ] = None,
    notes: Annotated[str, typer.Option("--notes", metavar="TEXT", help="What to think of.")] = "",
    pages: Annotated[str, typer.Option("--pages", metavar="1-3,5", help="Only these, in this order.")] = "",
    transpose: Annotated[
        int, typer.Option("--transpose", metavar="SEMITONES", min=-12, max=12, help="Engraved music, so much higher.")
    ] = 0,
    json: Json = False,
    server: Server = None,
) -> None:
    """Add a score to a set list."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import add_entry
    from satchel.cli.setlists.setlist_text import details

    with open_client(server) as client:
        changed = add_entry(client, name, score, at=at, notes=notes, pages=pages, transpose=transpose)
    answer(changed, details(changed), as_json=json)


@setlist.command(cls=Verb)
def move(
    name: Name,
    place: Place,
    to: Annotated[str, typer.Argument(metavar="TO", help="The place that it gets.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Move an entry of a set list to another place."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import move_entry
    from satchel.cli.setlists.setlist_text import details

    with open_client(server) as client:
        changed = move_entry(client, name, place, to)
    answer(changed, details(changed), as_json=json)


@setlist.command(cls=Verb)
def remove(name: Name, place: Place, json: Json = False, server: Server = None) -> None:
    """Take an entry out of a set list. The score stays."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import remove_entry
    from satchel.cli.setlists.setlist_text import details

    with open_client(server) as client:
        changed = remove_entry(client, name, place)
    answer(changed, details(changed), as_json=json)


@setlist.command(cls=Verb)
def rename(
    name: Name,
    new: Annotated[str | None, typer.Argument(metavar="NAME", help="Its new name.")] = None,
    notes: Annotated[str | None, typer.Option("--notes", metavar="TEXT", help="Notes on all of it.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """Change the name or the notes of a set list."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import rename_set_list
    from satchel.cli.setlists.setlist_text import details

    if new is None and notes is None:
        raise Misused("Give a new name, or --notes.")
    with open_client(server) as client:
        changed = rename_set_list(client, name, new, notes)
    answer(changed, details(changed), as_json=json)


@setlist.command(cls=Verb)
def share(
    name: Name,
    email: Annotated[str, typer.Argument(metavar="E-MAIL", help="The address of the person.")],
    json: Json = False,
    server: Server = None,
) -> None:
    """Share a set list with a person. It shows them those scores that they may read."""
    from urllib.parse import quote

    from satchel.cli.engine.api_types.score_types import ScoreShareView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import find_set_list

    with open_client(server) as client:
        found = find_set_list(client, name)
        shared = client.call("PUT", f"/set-lists/{found.list_id}/shares/{quote(email, safe='')}", ScoreShareView)
    answer(shared, [printable(f"{found.name}: {shared.email} can read it.")], as_json=json)


@setlist.command(cls=Verb)
def export(
    name: Name,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="Where to. Default: its name.pdf, here.")] = None,
    plain: Annotated[bool, typer.Option("--without-marks", help="Leave out all marks.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Export a set list as one PDF, with a bookmark for each score."""
    from satchel.cli.engine.files.export_save import save_export
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.sizes import shown_bytes
    from satchel.cli.setlists.setlist_change import find_set_list

    with open_client(server) as client:
        found = find_set_list(client, name)
        path = f"/set-lists/{found.list_id}/export?marks={'false' if plain else 'true'}"
        saved, size_bytes = save_export(client, path, file, f"{found.name}.pdf")
    value = {"list_id": found.list_id, "saved_as": str(saved), "size_bytes": size_bytes}
    answer(value, [printable(f"{found.name}: {saved}, {shown_bytes(size_bytes)}")], as_json=json)


@setlist.command(cls=Verb)
def delete(name: Name, json: Json = False, server: Server = None) -> None:
    """Delete a set list of yours. Its scores stay."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.setlists.setlist_change import find_set_list

    with open_client(server) as client:
        found = find_set_list(client, name)
        client.call("DELETE", f"/set-lists/{found.list_id}", type(None))
    answer({"list_id": found.list_id}, [printable(f"{found.name} is deleted.")], as_json=json)
