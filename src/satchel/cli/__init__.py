"""The `satchel` command: one package per verb group above `engine`; they use the API of a server, or run one.

Exit codes: 0 done, 1 could not be done, 2 not understood, 130 interrupted.
"""

import atexit
import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from satchel import __version__
from satchel.cli.engine.command.typer_internals import GroupedVerbs, Verb
from satchel.cli.engine.terminal.output import CommandFailed, complain
from satchel.kernel.errors import SatchelError

# What is imported is no garbage: to look for some meanwhile takes a tenth of the start. A command that ends gives
# everything back to the system, so that looking then is in vain, too.
gc.set_threshold(50_000, 10, 10)
atexit.register(gc.freeze)

INTERRUPTED = 130
# Set by the scripts of `--install-completion` when somebody presses Tab; Typer names it so.
COMPLETION_VARIABLE = "_SATCHEL_COMPLETE"
BEGIN = """\b
To begin:
  satchel serve           start a server on this machine
  satchel signup          create its first account, the administrator
  satchel COMMAND --help  show what a command does
"""

# Every verb, or group of them, with the module that has it, by the heading under which help lists it.
VERBS = {
    "Run a server": {"serve": "serve", "worker": "worker", "doctor": "doctor", "tables": "tables", "data": "data"},
    "Use a server": {
        "signup": "account",
        "login": "account",
        "whoami": "account",
        "logout": "account",
        "delete-account": "account",
    },
    "Keep files and pass them on": {
        "put": "put_get",
        "get": "put_get",
        "ls": "shelf",
        "rm": "shelf",
        "versions": "shelf",
        "search": "search",
        "uploads": "uploads",
        "transfers": "transfers",
        "room": "rooms",
    },
    "Keep photos in albums": {"photos": "photos", "album": "albums"},
    "Keep sheet music": {"score": "scores", "setlist": "setlists"},
    "Share links, and see statistics": {"link": "links", "links": "links", "counter": "counters", "stats": "stats"},
    "Send files, end-to-end encrypted": {"send": "drop", "receive": "drop"},
    "Administer a server": {"invite": "account", "people": "people", "reset-password": "people"},
}


def _print_version(asked: bool) -> None:
    if asked:
        print(f"satchel {__version__}")
        raise typer.Exit


def satchel(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Satchel is your own server for keeping files and passing them on.

    This command runs a server, administers it, and uses one from a terminal.
    """


def _app(called: str) -> typer.Typer:
    """With the verb that is called, or with all if there is none of this name: most take longer to load than to do."""
    is_verb = any(called in verbs for verbs in VERBS.values())
    app = typer.Typer(
        cls=GroupedVerbs,
        epilog=BEGIN,
        no_args_is_help=True,
        # Offered only in front of all verbs, and to a shell after Tab, so that no verb starts more slowly.
        add_completion=not is_verb or COMPLETION_VARIABLE in os.environ,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(satchel)
    for heading, verbs in VERBS.items():
        for name, module in verbs.items():
            if name == called or not is_verb:
                _add(app, heading, getattr(import_module(f"satchel.cli.{module}"), name.replace("-", "_")))
    return app


def _called() -> str:
    """The verb, also if a shell asks what can follow it; empty while it is still being typed."""
    if COMPLETION_VARIABLE not in os.environ:
        return sys.argv[1] if len(sys.argv) > 1 else ""
    # As bash tells what was typed, and as zsh and fish do.
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    words = typed.split()
    return words[1] if len(words) > 2 or (len(words) == 2 and typed[-1:].isspace()) else ""


def _add(app: typer.Typer, heading: str, verb: Callable[..., None] | typer.Typer) -> None:
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, rich_help_panel=heading)
    else:
        app.command(cls=Verb, rich_help_panel=heading, epilog=getattr(verb, "epilog", None))(verb)


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
        _app(_called())()
    except SystemExit as end:  # how Typer ends, whether well or not
        if end.code == INTERRUPTED and sys.stderr.isatty():
            print(file=sys.stderr)  # so that the prompt does not stand behind ^C
        return end.code if isinstance(end.code, int) else 0
    except CommandFailed as error:
        complain(str(error))
        return error.exit_code
    except SatchelError as error:
        complain(error.detail)
        return CommandFailed.exit_code
    return 0
