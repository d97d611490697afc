"""`satchel put` and `get`: files to a shelf, to a person, into a room or by a link, and back to this machine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import Server
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note

if TYPE_CHECKING:
    from satchel.cli.engine.http.client import Client

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
        str | None, typer.Option("--to", metavar="E-MAIL", help="Send them to the person with this address.")
    ] = None,
    room: Annotated[
        str | None, typer.Option("--room", metavar="CODE", help="Put them into this room, for everybody in it.")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help="With --room: only for this person there.")
    ] = None,
    words: Annotated[str, typer.Option("--note", metavar="TEXT", help="With --to or --room: a short message.")] = "",
    wait: Annotated[
        bool, typer.Option("--wait", help="With --to or --room: wait until everybody has verified or declined it.")
    ] = False,
    wait_for: Annotated[
        str | None, typer.Option("--wait-for", metavar="SECONDS", help="Like --wait, but only for so long.")
    ] = None,
    hand_out: Annotated[
        bool, typer.Option("--hand-out", help="With --room: ask everybody to hand in an answer.")
    ] = False,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="ID", help="With --room: hand in an answer to this transfer.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="With --room or --link: your name as a guest.")
    ] = None,
    link: Annotated[
        str | None, typer.Option("--link", metavar="LINK", help="Send them to the owner of this link for files.")
    ] = None,
    mirror: Annotated[
        bool, typer.Option("--mirror", help="Move to the bin what is in the folder on the shelf and not here.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Put files and folders on your shelf, or send them to somebody.

    On the shelf, what is there with the same bytes is left alone, and what changed is replaced. `satchel versions`
    shows what it was. The last line says how many of each, also with --json. With --link you need no account. If the
    command is interrupted, run it again to resume.
    """
    from satchel.cli.put_get.file_put import FilePut
    from satchel.cli.put_get.put_target import at_link, put_target

    for_seconds = None if wait_for is None else whole_number("--wait-for", wait_for, least=1)
    waits = wait or for_seconds is not None
    if (words or waits) and not (to or room):
        raise Misused("--note and --wait need a receiver: use --to or --room.")
    if link and (folder or to or room or person or hand_out or answers):
        raise Misused("--link names the receiver already. It can be combined with --name only.")
    if (mirror or dry_run) and (to or room or link):
        raise Misused("--mirror and --dry-run are for your own shelf. Leave out --to, --room and --link.")
    client, token = _open(link, server)
    with client:
        if token:
            target = at_link(client, token, name or "")
        else:
            target = put_target(
                client,
                folder=folder,
                email=to,
                code=room,
                person=person,
                name=name,
                hand_out=hand_out,
                answers=answers,
            )
        put_command = FilePut(client, target, as_json=json, quiet=quiet, mirror=mirror, dry_run=dry_run)
        try:
            handed = put_command.put(files, words)
        except KeyboardInterrupt:
            note("Stopped. Run the same command again to resume.")
            raise
        if handed and waits:
            put_command.report.wait_for_receipts(handed, for_seconds)


def get(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Names, or paths from the top of the shelf; or the address of a link."),
    ] = None,
    transfer: Annotated[
        str | None, typer.Option("--transfer", metavar="ID", help="Get all files of this transfer instead.")
    ] = None,
    into: Annotated[
        str, typer.Option("-o", "--into", metavar="FOLDER", help="Where to put them. Default: the current folder.")
    ] = ".",
    quiet: Quiet = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Get files and folders from your shelf, or what you were sent.

    With the address of a link you need no account. Nothing is overwritten. If the command is interrupted, run it again
    to resume.
    """
    from satchel.cli.engine.resources.link_address import is_address
    from satchel.cli.put_get.file_get import from_link, from_shelf, from_transfer

    if bool(names) == bool(transfer):
        raise Misused("Say what to get: a name on your shelf, a link, or a transfer with --transfer.")
    link = next(filter(is_address, names or []), None)
    if link and len(names or []) > 1:
        raise Misused("Use a command of its own for a link.")
    client, token = _open(link, server)
    with client:
        try:
            if token:
                whole = from_link(client, token, Path(into), as_json=json, quiet=quiet)
            elif transfer:
                whole = from_transfer(client, transfer, Path(into), as_json=json, quiet=quiet)
            else:
                whole = from_shelf(client, names or [], Path(into), as_json=json, quiet=quiet)
        except OSError as error:
            raise CommandFailed(f"The folder {into} cannot be used: {error.strerror}.") from error
        except KeyboardInterrupt:
            note("Stopped. Run the same command again to resume.")
            raise
        if not whole:
            raise CommandFailed("Some files were not downloaded. Run the same command again to retry them.")


def _open(link: str | None, server: str | None) -> "tuple[Client, str | None]":
    """The server to talk to, and the token of the link, which says where that is and lets strangers in."""
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.link_address import LinkAddress

    if link is None:
        return open_client(server), None
    address = LinkAddress.read(link)
    return open_client(address.server or server, as_stranger=True), address.token
