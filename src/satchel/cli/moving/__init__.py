"""`satchel put` and `get`: files to a shelf, to a person or into a room, and back to this machine."""

from pathlib import Path
from typing import Annotated

import typer

from satchel.cli.account import Server
from satchel.cli.output import CommandFailed, Misused, note

# As in `account`, what takes long to load is imported inside the verbs.

Quiet = Annotated[bool, typer.Option("--quiet", help="Say only what went wrong.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print a line of JSON per file, for machines.")]


def put(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files, and folders with all that is in them.")],
    folder: Annotated[
        str,
        typer.Option("--folder", metavar="PATH", help="The folder to put them in; made if missing. [with --to: Sent]"),
    ] = "",
    to: Annotated[
        str | None, typer.Option("--to", metavar="E-MAIL", help="Hand them to whoever has this address.")
    ] = None,
    room: Annotated[
        str | None, typer.Option("--room", metavar="CODE", help="Bring them into this room, for everybody there.")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help="With --room: only for this person there.")
    ] = None,
    words: Annotated[str, typer.Option("--note", metavar="TEXT", help="With --to or --room: a few words.")] = "",
    wait: Annotated[
        bool, typer.Option("--wait", help="With --to or --room: until everybody has it, verified, or declined it.")
    ] = False,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="With --room: what to call you as a guest.")
    ] = None,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Put files and folders on your shelf, or hand them to somebody.

    If it is stopped in the middle, the same command goes on where it was.
    """
    from satchel.cli.client import open_client
    from satchel.cli.moving.aims import take_aim
    from satchel.cli.moving.putting import Putting

    if (words or wait) and not (to or room):
        raise Misused("--note and --wait are for what is handed over: say to whom with --to or --room.")
    with open_client(server) as client:
        aim = take_aim(client, folder=folder, email=to, code=room, person=person, name=name)
        putting = Putting(client, aim, as_json=json, quiet=quiet)
        try:
            handed = putting.put(files, words)
        except KeyboardInterrupt:
            note("Stopped. The same command goes on from here.")
            raise
        if handed and wait:
            putting.wait_for_receipts(handed)


def get(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names, or paths from the top of the shelf.")
    ] = None,
    transfer: Annotated[
        str | None, typer.Option("--transfer", metavar="ID", help="Instead, all that was handed over by this transfer.")
    ] = None,
    into: Annotated[str, typer.Option("-o", "--into", metavar="FOLDER", help="Where to put them; else here.")] = ".",
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Get files and folders from your shelf, or what you were handed.

    Nothing is overwritten. If it is stopped in the middle, the same command goes on where it was.
    """
    from satchel.cli.client import open_client
    from satchel.cli.moving.getting import from_shelf, from_transfer

    if bool(names) == bool(transfer):
        raise Misused("Name what to get from your shelf, or a transfer with --transfer.")
    with open_client(server) as client:
        try:
            if transfer:
                whole = from_transfer(client, transfer, Path(into), as_json=json, quiet=quiet)
            else:
                whole = from_shelf(client, names or [], Path(into), as_json=json, quiet=quiet)
        except OSError as error:
            raise CommandFailed(f"The folder {into} cannot be used: {error.strerror}.") from error
        except KeyboardInterrupt:
            note("Stopped. The same command goes on from here.")
            raise
        if not whole:
            raise CommandFailed("Not everything was fetched. The same command tries again what is missing.")
