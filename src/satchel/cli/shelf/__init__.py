"""`satchel put`, `get`, `ls` and `rm`: one's shelf, from a terminal."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.account import Json, Server
from satchel.cli.output import CommandFailed, note, print_json, printable

if TYPE_CHECKING:
    from satchel.cli.answers import Entry

# As in `account`, what takes long to load is imported inside the verbs.

Folder = Annotated[
    str, typer.Option("--folder", metavar="PATH", help="The folder of the shelf to put them in; made if missing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say only what went wrong.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print a line of JSON per file, for machines.")]


def put(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files, and folders with all that is in them.")],
    folder: Folder = "",
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Put files and folders on your shelf.

    If it is stopped in the middle, the same command goes on where it was.
    """
    from satchel.cli.answers import Person
    from satchel.cli.client import open_client
    from satchel.cli.shelf.errands import send_all
    from satchel.cli.shelf.journal import Journal
    from satchel.cli.shelf.sources import gather

    with open_client(server) as client:
        person = client.call("GET", "/accounts/me", Person)
        found = gather(files, folder)
        errand = [client.server, person.user_id, folder.strip("/"), *sorted(set(map(os.path.abspath, files)))]
        journal = Journal(client.credentials.path.parent / "uploads", errand)
        finished = False
        try:
            finished = send_all(client, journal, found, as_json=json, quiet=quiet)
        except KeyboardInterrupt:
            note("Stopped. The same command goes on from here.")
            raise
        finally:
            journal.close(finished=finished)
        if not finished:
            raise CommandFailed("Not everything was sent. The same command tries again what is missing.")


def get(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Names, or paths from the top of the shelf.")],
    into: Annotated[str, typer.Option("-o", "--into", metavar="FOLDER", help="Where to put them; else here.")] = ".",
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Get files and folders from your shelf.

    Nothing is overwritten. If it is stopped in the middle, the same command goes on where it was.
    """
    from satchel.cli.client import open_client
    from satchel.cli.shelf.errands import fetch_all, refuse_if_full
    from satchel.cli.shelf.fetching import plan
    from satchel.cli.shelf.places import Places

    with open_client(server) as client:
        places, target = Places(client), Path(into)
        entries = [places.wanted(name) for name in names]
        try:
            target.mkdir(parents=True, exist_ok=True)
            wanted = [each for entry in entries for each in plan(places, entry, target)]
        except OSError as error:
            raise CommandFailed(f"The folder {into} cannot be used: {error.strerror}.") from error
        refuse_if_full(target, wanted)
        try:
            whole = fetch_all(client, wanted, as_json=json, quiet=quiet)
        except KeyboardInterrupt:
            note("Stopped. The same command goes on from here.")
            raise
        if not whole:
            raise CommandFailed("Not everything was fetched. The same command tries again what is missing.")


def ls(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A folder or file; else the top of the shelf.")] = "",
    json: Json = False,
    server: Server = None,
) -> None:
    """List what is on your shelf."""
    from msgspec.structs import asdict

    from satchel.cli.client import open_client
    from satchel.cli.shelf.listing import lines
    from satchel.cli.shelf.places import TOP, Places

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
    from satchel.cli.client import open_client
    from satchel.cli.shelf.places import Places

    with open_client(server) as client:
        places = Places(client)
        entries: list[Entry] = []
        for path in paths:
            entry = places.at(path)
            if entry is None:
                raise CommandFailed(f"There is nothing at {path} on your shelf, so that nothing was removed.")
            entries.append(entry)
        for entry in {entry.id: entry for entry in entries}.values():
            client.call("DELETE", f"/shelf/{entry.kind}s/{entry.id}", type(None))
            print(printable(f"{entry.name} is in the bin."))
