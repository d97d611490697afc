"""The `satchel` command: one file per verb group; it talks to a server over its public API, or starts one.

Exit codes: 0 done, 1 could not be done, 2 not understood, 130 interrupted.
"""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, cast

import typer

from satchel.cli import (
    account,
    doctor,
    drop,
    linking,
    moving,
    options,
    people,
    rooms,
    serve,
    shelf,
    stats,
    tables,
    transfers,
    worker,
)
from satchel.cli.output import CommandFailed, Misused, complain
from satchel.cli.verbs import GroupedVerbs, Verb
from satchel.config import BadSetting
from satchel.kernel.errors import SatchelError

# httpx would load a command line of its own, and with it what takes longer than all the rest of a short command.
sys.modules.setdefault("httpx._main", cast("ModuleType", None))

INTERRUPTED = 130
BEGIN = """\b
To begin:
  satchel serve           start a server on this machine
  satchel signup          make the first account on it, which administers it
  satchel COMMAND --help  what a command can do
"""


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"satchel {version('satchel')}")
        raise typer.Exit


app = typer.Typer(
    cls=GroupedVerbs,
    epilog=BEGIN,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def satchel(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Satchel is a server of your own for passing things on and keeping them.

    This command starts one, looks after it, and is your way in from a terminal.
    """


def _add(heading: str, *verbs: Callable[..., None], epilog: str | None = None) -> None:
    for verb in verbs:
        app.command(cls=Verb, rich_help_panel=heading, epilog=epilog)(verb)


_add("Run a server", serve.serve, worker.worker, doctor.doctor, tables.tables, epilog=options.ELSEWHERE)
_add("Use a server", account.signup, account.login, account.whoami, account.logout)
_add("Keep files and pass them on", moving.put, moving.get, shelf.ls, shelf.rm)
for group in (transfers.transfers, rooms.room):
    app.add_typer(group, rich_help_panel="Keep files and pass them on")
_add("Give links, and see what comes of them", linking.link)
for group in (linking.links, stats.stats):
    app.add_typer(group, rich_help_panel="Give links, and see what comes of them")
_add("Hand files over, sealed", drop.send, drop.receive)
_add("Administer a server", account.invite, people.people, people.reset_password)


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ✓ shows ? instead of a traceback
    try:
        exit_code = _run()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has left. Python would complain once more when it flushes at the very end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return exit_code


def _run() -> int:
    try:
        app()
    except SystemExit as end:  # how Typer ends, whether well or not
        if end.code == INTERRUPTED and sys.stderr.isatty():
            print(file=sys.stderr)  # so that the prompt does not stand behind ^C
        return end.code if isinstance(end.code, int) else 0
    except CommandFailed as error:
        complain(str(error))
        return error.exit_code
    except BadSetting as error:
        complain(str(error))
        return Misused.exit_code
    except SatchelError as error:
        complain(error.detail)
        return CommandFailed.exit_code
    return 0
