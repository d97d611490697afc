"""`satchel send` and `receive`: files end-to-end encrypted, so that the server between the two cannot read them."""

import getpass
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import JsonLines, Server
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note, printable

if TYPE_CHECKING:
    from satchel.cli.drop.sender.folder_source import Missing
    from satchel.cli.drop.sender.send_content import Source

# As in `account`, what takes long to load is imported inside the verbs.

Called = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Your name in the session. Default: your login name.")
]
_NAMED = 5
# As many as a session has room for.
_ANNOUNCED = 1000


def send(
    things: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Files, and folders with all that is in them; - for standard input."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="Send this text.")] = None,
    called: Annotated[
        str, typer.Option("--as", metavar="NAME", help="The name of what comes from standard input.")
    ] = "stdin",
    keep: Annotated[bool, typer.Option("--keep", help="Stay for any number of receivers, until Ctrl-C.")] = False,
    receivers: Annotated[
        str, typer.Option("--receivers", metavar="NUMBER", help="Stay until so many receivers have everything.")
    ] = "1",
    words: Annotated[bool, typer.Option("--words", help="Use words instead of digits in the code.")] = False,
    name: Called = None,
    no_qr: Annotated[bool, typer.Option("--no-qr", help="Show no QR code.")] = False,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Send files, end-to-end encrypted, to anybody you tell the code.

    Nobody needs an account. The files stay on this machine until somebody receives them. The server passes them on
    encrypted and never stores them. The command ends when one receiver has everything; --receivers and --keep change
    that.
    """
    from satchel.cli.drop.sender.send_command import Sending
    from satchel.cli.drop.sender.send_log import Invitation, SendLog
    from satchel.cli.drop.session.doorkeeper import Doorkeeper
    from satchel.cli.drop.session.drop_session import open_session
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.interrupt import Interruption

    enough = None if keep else whole_number("--receivers", receivers, least=1)
    sources, missing = _sources(things or [], text, called)
    log = SendLog(as_json=json)
    _tell_missing(missing)
    with open_client(server) as client, client.silence.told_by(log.say), Interruption() as interruption:
        session, link = open_session(client, name or login_name())
        client.remember_server()
        if session.other_address:
            note(
                f"The link leads to {client.server}. The server calls itself {printable(session.other_address)}: "
                "if others reach it there, name that with --server."
            )
        door = Doorkeeper(session, log.code_died, words=words)
        sending = Sending(session, sources, log, door, receivers=enough)
        offered = [source.description for source in sources]
        invitation = Invitation(door.spoken, link)
        reason = "failed"
        try:
            sending.run(lambda: log.opened(invitation, offered, _stays(enough), qr=not no_qr), interruption.raise_again)
            reason = "received"
        except KeyboardInterrupt:
            reason = "interrupted"
            if not keep:
                raise
            if sys.stderr.isatty():
                note("")  # so that the prompt does not stand behind ^C
        finally:
            log.ended(reason, sending.complete)
            sending.leave(in_time=reason == "interrupted")
    if missing.unreadable:
        raise CommandFailed("Some files were not sent, because they could not be read.")


def receive(
    invitation: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE", help="The code or the link. Default: SATCHEL_CODE, else asked for, which nobody sees."
        ),
    ] = None,
    into: Annotated[
        str, typer.Option("-o", "--into", metavar="FOLDER", help="Where to put it. Default: the current folder.")
    ] = ".",
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="-", help="With -: write the only file that is offered to standard output."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take everything without asking.")] = False,
    name: Called = None,
    json: JsonLines = False,
    server: Server = None,
) -> None:
    """Receive files by the code or the link that the sender told you.

    Nothing is overwritten. If the command is interrupted, run it again to resume.
    """
    from satchel.cli.drop.receiver.receive_command import receive_all

    receive_all(invitation, into, output=output, yes=yes, name=name or login_name(), as_json=json, server=server)


def login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user on this machine, as in some containers
        return "somebody"


def _sources(things: list[str], text: str | None, called: str) -> "tuple[list[Source], Missing]":
    from satchel.cli.drop.sender.pipe_spool import PipeSource
    from satchel.cli.drop.sender.send_content import TextSource
    from satchel.cli.drop.sender.send_sources import gather

    if not things and text is None:
        raise Misused("Say what to send: files, folders, - for standard input, or a text with --text.")
    if text == "":
        raise Misused("--text is empty, so there is nothing to send.")
    if "-" in things and (sys.stdin is None or sys.stdin.isatty()):
        raise Misused("- sends standard input, but nothing is piped in. Try: some command | satchel send -")
    sources, missing = gather([thing for thing in things if thing != "-"])
    if "-" in things:
        sources.append(PipeSource(sys.stdin.buffer, called))
    if text is not None:
        sources.append(TextSource(text))
    if len(sources) > _ANNOUNCED:
        raise Misused(f"{len(sources):,} files are too many to offer one by one. Send the folder that they are in.")
    return sources, missing


def _tell_missing(missing: "Missing") -> None:
    from satchel.cli.engine.files.local_files import near

    for why, paths in (("is", missing.left_out), ("cannot be read:", missing.unreadable)):
        for path, reason in paths[:_NAMED]:
            note(f"Left out: {near(path)} {why} {reason}.")
        if len(paths) > _NAMED:
            note(f"Left out: {len(paths) - _NAMED:,} more for similar reasons.")


def _stays(enough: int | None) -> str:
    if enough is None:
        return "This command serves everybody who comes, until Ctrl-C."
    until = "one receiver has everything" if enough == 1 else f"{enough:,} receivers have everything"
    return f"This command ends when {until}, or with Ctrl-C."
