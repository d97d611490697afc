"""`satchel signup`, `login`, `logout`, `whoami`, `invite` and `delete-account`: accounts, from a terminal."""

import os
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.resources.secret_links import invitation_link
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, note, print_json, printable
from satchel.cli.engine.terminal.prompts import ask, ask_password, confirm
from satchel.cli.engine.terminal.sizes import shown_bytes

if TYPE_CHECKING:
    from satchel.cli.engine.api_types.account_types import DeletionPreview, PersonView
    from satchel.cli.engine.http.client import Client

# `satchel.cli.engine.http.client` is imported inside the verbs: its libraries take longer to load than all of the help.

Email = Annotated[
    str | None, typer.Option("--email", metavar="ADDRESS", help="Your e-mail address. Asked for if missing.")
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking.")
]


def signup(
    server: Server = None,
    email: Email = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Your name. Asked for if missing.")] = None,
    invitation: Annotated[
        str | None, typer.Option("--invitation", metavar="TOKEN", help="An invitation, if the server requires one.")
    ] = None,
    password_stdin: PasswordStdin = False,
    json: Json = False,
) -> None:
    """Create an account on a server and sign in.

    The first account on a new server is its administrator. SATCHEL_PASSWORD can hold the password.
    """
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        _warn_if_overheard(client.server)
        # Who has answered four questions should not hear then that the server is down.
        client.call("GET", "/sign-up", object, as_self=False)
        email = email or ask("E-mail", "Give --email.")
        name = name or ask("Name", "Give --name.")
        password = _password(f"Choose a password for {client.server}", from_stdin=password_stdin, twice=True)
        account = {"email": email, "name": name, "password": password, "invitation": invitation}
        _begin_session(client, "/accounts", account, as_json=json)


def login(
    server: Server = None, email: Email = None, password_stdin: PasswordStdin = False, json: Json = False
) -> None:
    """Sign in to a server, for this and later commands.

    SATCHEL_PASSWORD can hold the password.
    """
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        _warn_if_overheard(client.server)
        email = email or ask("E-mail", "Give --email.")
        password = _password(f"Password for {client.server}", from_stdin=password_stdin)
        proofs = {"email": email, "password": password, "known_device": client.known_device}
        _begin_session(client, "/sessions", proofs, as_json=json)


def logout(server: Server = None, json: Json = False) -> None:
    """Sign out, here and on the server."""
    from satchel.cli.engine.http.client import SIGN_IN_AGAIN, open_client
    from satchel.cli.engine.http.failures import Refused, Unreachable

    with open_client(server) as client:
        if client.session is None:
            told = f"You were not signed in to {client.server}."
            answer({"server": client.server, "signed_out": False}, [told], as_json=json)
            return
        try:
            client.call("DELETE", "/sessions/current", type(None))
        except Refused as refusal:
            # An ended session is what was asked for.
            if refusal.slug not in SIGN_IN_AGAIN:
                raise
        except Unreachable as error:
            client.forget()
            raise CommandFailed(
                f"You are signed out here, but the server could not be reached: {error} "
                "The session stays in your list of sessions there until you end it."
            ) from error
        client.forget()
        told = f"You are signed out of {client.server}."
        answer({"server": client.server, "signed_out": True}, [told], as_json=json)


def whoami(server: Server = None, json: Json = False) -> None:
    """Show who you are on a server."""
    from msgspec.structs import asdict

    from satchel.cli.engine.api_types.account_types import PersonView
    from satchel.cli.engine.http.client import open_client

    with open_client(server) as client:
        person = client.call("GET", "/accounts/me", PersonView)
        if json:
            print_json({"server": client.server, **asdict(person)})
        else:
            print(_described(person, client.server))


def invite(
    email: Annotated[
        str | None, typer.Argument(metavar="E-MAIL", help="Whom you invite. Default: anybody with the link.")
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="A note for yourself.")] = "",
    administrator: Annotated[bool, typer.Option("--administrator", help="Make them an administrator.")] = False,
    server: Server = None,
    json: Json = False,
) -> None:
    """Invite somebody to a server that you administer.

    The invitation works once, for two weeks.
    """
    from satchel.cli.engine.api_types.account_types import InvitationView
    from satchel.cli.engine.http.client import open_client

    body = {"email": email, "note": note, "administrator": administrator}
    with open_client(server) as client:
        made = client.make("/invitations", InvitationView, body)
        token = made.token or ""  # which the answer that made it always has
        link = invitation_link(client.server, token, email)
        if json:
            print_json({"link": link, "server": client.server, "token": token, "expires_at": made.expires_at})
        else:
            print(f"Send this link to the person you invite. It works once:\n\n  {link}\n")
            print(f"Or, in a terminal:\n\n  satchel signup --server {client.server} --invitation {token}")


def delete_account(
    email: Annotated[
        str | None,
        typer.Argument(metavar="E-MAIL", help="Whose, as an administrator. Default: your own account."),
    ] = None,
    password_stdin: PasswordStdin = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask. Needs the password all the same.")] = False,
    json: Json = False,
    server: Server = None,
) -> None:
    """Delete an account with everything in it, your own or, as an administrator, somebody else's.

    Says first what goes and what stays. SATCHEL_PASSWORD can hold your own password.
    """
    from satchel.cli.engine.api_types.account_types import DeletionPreview, DeletionView
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.resources.people_list import person_of

    with open_client(server) as client:
        whose = "/accounts/me" if email is None else f"/people/{person_of(client, email).user_id}"
        found = client.call("GET", f"{whose}/deletion", DeletionPreview)
        if found.last_administrator:
            raise CommandFailed(
                "The server needs at least one administrator. Make somebody else an administrator first."
            )
        print("\n".join(_deletion_lines(found)), file=sys.stderr if json else sys.stdout)
        if not yes:
            confirm(f"This deletes the account of {found.name} for good.")
        password = _password(f"Your password for {client.server}", from_stdin=password_stdin)
        done = client.call("POST", f"{whose}/deletion", DeletionView, {"password": password})
        if email is None:
            client.forget()
    left = "" if done.finished else " What belonged to it is still being removed."
    told = {"deleted": found.email, "finished": done.finished}
    answer(told, [printable(f"The account {found.email} is deleted.{left}")], as_json=json)


def _deletion_lines(found: "DeletionPreview") -> Iterator[str]:
    counts = (
        (found.files, "file", "files", f", {shown_bytes(found.file_bytes)}"),
        (found.photos, "photo or video", "photos and videos", f", {shown_bytes(found.photo_bytes)}"),
        (found.albums, "album", "albums", ""),
        (found.scores, "score", "scores", ""),
        (found.set_lists, "set list", "set lists", ""),
        (found.links, "link, which leads nowhere then", "links, which lead nowhere then", ""),
        (found.rooms, "open room, which ends", "open rooms, which end", " for everybody inside"),
        (found.transfers, "entry", "entries", " of the history of transfers"),
        (found.uploads, "unfinished upload", "unfinished uploads", ""),
        (found.sessions, "signed-in device", "signed-in devices", ""),
        (found.shared, "thing", "things", " that others share with the account"),
    )
    yield printable(f"With the account of {found.name} <{found.email}> goes, for good:")
    yield from (f"  {count:>8,} {one if count == 1 else many}{more}" for count, one, many, more in counts if count)
    yield 'What others have received stays theirs; their history names "a deleted person".'
    yield "Messages and files in rooms of others stay until these end. Backups keep all of it until they are deleted."


def _begin_session(client: "Client", path: str, body: dict[str, str | None], *, as_json: bool) -> None:
    from msgspec.structs import asdict

    from satchel.cli.engine.api_types.account_types import PersonView, SignedInView

    device = f"satchel on {socket.gethostname()}"
    signed_in = client.call("POST", path, SignedInView, {**body, "device": device}, as_self=False)
    client.keep(signed_in)
    person = client.call("GET", "/accounts/me", PersonView)
    told = f"You are {_described(person, client.server)}"
    answer({"server": client.server, **asdict(person)}, [told], as_json=as_json)


def _described(person: "PersonView", server: str) -> str:
    rights = ", an administrator" if person.administrator else ""
    return printable(f"{person.name} <{person.email}>{rights} at {server}")


def _password(what: str, *, from_stdin: bool, twice: bool = False) -> str:
    if from_stdin:
        return _first_line_of_stdin()
    if given := os.environ.get("SATCHEL_PASSWORD"):
        return given
    return ask_password(what, "Use --password-stdin or SATCHEL_PASSWORD.", twice=twice)


def _first_line_of_stdin() -> str:
    try:
        password = sys.stdin.buffer.readline().decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise Misused("The password on standard input is not valid UTF-8.") from error
    if not password:
        raise Misused("There is no password on standard input.")
    return password


def _warn_if_overheard(server: str) -> None:
    parts = urlsplit(server)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        note(f"Warning: the connection to {server} is not encrypted. Others on the network can read your password.")
