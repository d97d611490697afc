"""`satchel people` and `reset-password`: manage the accounts of a server that you administer."""

from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.resources.secret_links import password_reset_link
from satchel.cli.engine.terminal.output import print_json, printable

if TYPE_CHECKING:
    from satchel.cli.engine.api_types.account_types import PersonEntry

# As in `account`, what takes long to load is imported inside the verbs.


def people(server: Server = None, json: Json = False) -> None:
    """List everybody with an account on a server that you administer."""
    from msgspec.structs import asdict

    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.people_list import everybody

    with open_client(server) as client:
        listed = list(everybody(client))
        if json:
            print_json([asdict(person) for person in listed])
            return
        for person in listed:
            print(_line(person))


def reset_password(
    email: Annotated[str, typer.Argument(metavar="E-MAIL", help="The e-mail address of the account.")],
    server: Server = None,
    json: Json = False,
) -> None:
    """Reset a forgotten password, on a server that you administer.

    Prints a link for choosing a new password. It works once, for a day.
    """
    from satchel.cli.engine.api_types.account_types import PasswordResetView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.people_list import person_of

    with open_client(server) as client:
        person = person_of(client, email)
        made = client.make(f"/people/{person.user_id}/password-reset", PasswordResetView)
        link = password_reset_link(client.server, made.token)
        if json:
            print_json({"link": link, "token": made.token, "expires_at": made.expires_at})
        else:
            print(f"Send this link to {printable(person.name)}. It works once, until {made.expires_at}:\n")
            print(f"  {link}")


def _line(person: "PersonEntry") -> str:
    remarks = [
        *(["an administrator"] if person.administrator else []),
        *(["suspended"] if person.suspended else []),
        f"{person.used_bytes:,} bytes",
        f"last active {person.last_used_at[:10]}" if person.last_used_at else "never active",
    ]
    return printable(f"{person.name} <{person.email}>, {', '.join(remarks)}")
