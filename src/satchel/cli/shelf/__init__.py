"""`satchel ls`, `rm` and `versions`: list the shelf, move things to its bin, and bring earlier contents back."""

from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, print_json, printable

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
    json: Json = False,
    server: Server = None,
) -> None:
    """Move files and folders of your shelf to its bin."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.shelf_paths import Places, changed

    with open_client(server) as client:
        places = Places(client)
        entries: list[EntryView] = []
        for path in paths:
            entry = places.at(path)
            if entry is None:
                raise CommandFailed(f"There is nothing at {path} on your shelf. Nothing was removed.")
            entries.append(entry)
        removed = list({entry.id: entry for entry in entries}.values())
        for entry in removed:
            if not changed(client, entry, "DELETE"):
                raise CommandFailed(f"{entry.name} was changed on the shelf meanwhile. See `satchel ls`, then decide.")
            if not json:
                print(printable(f"{entry.name} was moved to the bin."))
    if json:
        answer({"removed": removed}, (), as_json=True)


def versions(
    path: Annotated[str, typer.Argument(metavar="PATH", help="The path of a file from the top of the shelf.")],
    restore: Annotated[
        str | None, typer.Option("--restore", metavar="ID", help="Make this version the current content.")
    ] = None,
    get: Annotated[
        str | None, typer.Option("--get", metavar="ID", help="Download this version into the current folder.")
    ] = None,
    delete: Annotated[str | None, typer.Option("--delete", metavar="ID", help="Delete this version for good.")] = None,
    json: Json = False,
    server: Server = None,
) -> None:
    """List the earlier contents of a file, newest first, or bring one back."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.shelf.file_versions import FileVersions, lines

    if sum(each is not None for each in (restore, get, delete)) > 1:
        raise Misused("Use one of --restore, --get and --delete.")
    with open_client(server) as client:
        found = FileVersions.of(client, path)
        if restore is not None:
            print(printable(found.restore(restore)))
        elif get is not None:
            print(printable(found.get(get)))
        elif delete is not None:
            print(printable(found.delete(delete)))
        elif json:
            print_json(found.as_builtins())
        else:
            for line in lines(found.versions):
                print(line)
