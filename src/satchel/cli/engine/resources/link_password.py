"""The password of a link, from the environment or typed unseen."""

import os

from satchel.cli.engine.terminal.prompts import ask_password

VARIABLE = "SATCHEL_LINK_PASSWORD"


def given_password() -> str | None:
    return os.environ.get(VARIABLE) or None


def typed_password(what: str, *, twice: bool = False) -> str:
    return ask_password(what, f"Use {VARIABLE}.", twice=twice)


def new_password() -> str:
    return given_password() or typed_password("Choose a password for the link", twice=True)
