"""Ask for missing values at the terminal; without a terminal, say which option to use."""

import getpass
import sys

from satchel.cli.engine.terminal.output import CommandFailed, Misused, printable


def ask(what: str, instead: str) -> str:
    _need_terminal("to ask on", instead)
    print(f"{what}: ", end="", file=sys.stderr, flush=True)
    return input().strip()


def ask_password(what: str, instead: str, *, twice: bool = False) -> str:
    """Unseen; and never from an argument, which everyone on the machine can read."""
    _need_terminal("to ask for the password on", instead)
    password = getpass.getpass(f"{what}: ")
    if twice and getpass.getpass("Once more: ") != password:
        raise CommandFailed("The two passwords do not match. Nothing was done; try again.")
    return password


def confirm(warning: str) -> None:
    """Raises `CommandFailed` unless the answer is yes."""
    _need_terminal("to ask on", "Give --yes to do it without being asked.")
    print(printable(f"{warning} Continue? [y/N] "), end="", file=sys.stderr, flush=True)
    if input().strip().lower() not in ("y", "yes"):
        raise CommandFailed("Nothing was done.")


def _need_terminal(why: str, instead: str) -> None:
    if not sys.stdin.isatty():
        raise Misused(f"There is no terminal {why}. {instead}")
