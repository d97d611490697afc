"""Everybody with an account on a server, as administrators may list them."""

from collections.abc import Iterator
from urllib.parse import quote

from satchel.cli.engine.api_types.account_types import PeopleList, PersonEntry
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed


def everybody(client: Client) -> Iterator[PersonEntry]:
    where = "/people?limit=1000"
    while True:
        page = client.call("GET", where, PeopleList)
        yield from page.people
        if page.cursor is None:
            return
        where = f"/people?limit=1000&cursor={quote(page.cursor, safe='')}"


def person_of(client: Client, email: str) -> PersonEntry:
    """Whoever has this address."""
    wanted = email.strip().lower()
    person = next((each for each in everybody(client) if each.email == wanted), None)
    if person is None:
        raise CommandFailed(f"No account on {client.server} has the address {email}. See `satchel people`.")
    return person
