"""List clicks one by one: whose, and from when."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.stats_types import ClicksView, ClickView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.people_list import everybody
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.stats.periods import day_of, moment_of

_PAGE = 1000
ME = "me"


def where_clicks_are(
    client: Client, *, user: str | None, first: str | None, last: str | None, day: str | None
) -> tuple[str, Mapping[str, str]]:
    """The path of the API, and what to ask there."""
    if day:
        return f"/clicks/days/{day_of(day)}", {}
    asked = {
        "userId": user and person_id_of(client, user),
        "from": first and moment_of(first),
        "to": last and moment_of(last, end=True),
    }
    return "/clicks", {name: value for name, value in asked.items() if value}


def every_click(client: Client, where: str, query: Mapping[str, str]) -> Iterator[ClickView]:
    """Newest first."""
    cursor: dict[str, str] = {}
    while True:
        page = client.call("GET", f"{where}?{urlencode({**query, **cursor, 'limit': str(_PAGE)})}", ClicksView)
        yield from page.clicks
        if page.cursor is None:
            return
        cursor = {"cursor": page.cursor}


def person_id_of(client: Client, who: str) -> str:
    """The id under which somebody clicks: as it is, or that of an e-mail address."""
    if who == ME:
        return client.call("GET", "/accounts/me", PersonView).user_id
    if "@" not in who:
        return who
    wanted = who.strip().lower()
    for person in everybody(client):
        if person.email == wanted:
            return person.user_id
    raise CommandFailed(f"No account on {client.server} has the address {who}. See `satchel people`.")


def quoted(text: str) -> str:
    return quote(text, safe="")
