"""`satchel ls` and `rm`: list the shelf, and move things to its bin."""

from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.terminal.output import CommandFailed, print_json, printable

if TYPE_CHECKING:
    from satchel.cli.engine.api_types.shelf_types import EntryView

# As in `account`, what takes long to load is imported inside the verbs.


def ls(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder or file; else the top of the shelf.")] = "",
    json: Json = False,
    server: Server = None,
) -> None:
    """List what is on your shelf."""
    from msgspec.structs import asdict

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.shelf_paths import TOP, Places
    from satchel.cli.shelf.shelf_list import lines

    with open_client(server) as client:
        places = Places(client)
        found = places.at(path)
        if found is None and path.strip("/."):
            raise CommandFailed(f"There is nothing at {path} on your shelf.")
        entries = [found] if found and found.kind == "file" else places.entries(found.id if found else TOP)
        if json:
            print_json([asdict(entry) for entry in entries])
            return
        for line in lines(entries):
            print(line)


def rm(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Paths from the top of the shelf.")],
    server: Server = None,
) -> None:
    """Move files and folders of your shelf to its bin."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.shelf_paths import Places

    with open_client(server) as client:
        places = Places(client)
        entries: list[EntryView] = []
        for path in paths:
            entry = places.at(path)
            if entry is None:
                raise CommandFailed(f"There is nothing at {path} on your shelf. Nothing was removed.")
            entries.append(entry)
        for entry in {entry.id: entry for entry in entries}.values():
            client.call("DELETE", f"/shelf/{entry.kind}s/{entry.id}", type(None))
            print(printable(f"{entry.name} was moved to the bin."))
