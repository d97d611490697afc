"""Find your links by what people type: an address, an id, or the end of an id."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from satchel.cli.engine.api_types.link_types import LinkList, LinkView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.link_address import LinkAddress, is_address
from satchel.cli.engine.terminal.output import CommandFailed

_ID = re.compile("[0-9a-z]{26}")
_PAGE = 100


def find(client: Client, typed: str) -> LinkView:
    """`CommandFailed` if there is none, or several."""
    return only(matching(client, typed), typed)


def matching(client: Client, typed: str) -> list[LinkView]:
    wanted = typed.strip()
    if _ID.fullmatch(wanted):
        return [client.call("GET", f"/links/{wanted}", LinkView)]
    return [link for link in every_link(client) if _is_meant(link, wanted)]


def only(found: Sequence[LinkView], typed: str) -> LinkView:
    if len(found) > 1:
        raise CommandFailed(f"Several links end with {typed}. Give more of the id.")
    if not found:
        raise CommandFailed(f"You have no link {typed}. See `satchel links`.")
    return found[0]


def every_link(client: Client) -> Iterator[LinkView]:
    """Newest first."""
    cursor = ""
    while True:
        page = client.call("GET", f"/links?limit={_PAGE}{cursor}", LinkList)
        yield from page.links
        if page.cursor is None:
            return
        cursor = f"&cursor={quote(page.cursor, safe='')}"


def _is_meant(link: LinkView, wanted: str) -> bool:
    if is_address(wanted):
        return LinkAddress.read(wanted).token in (link.token, link.alias)
    return wanted in (link.token, link.alias) or bool(wanted and link.link_id.endswith(wanted.lower()))
