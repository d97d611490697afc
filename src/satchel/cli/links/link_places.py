"""The downloads by a link that have begun and not ended: list them, and give their places back."""

from urllib.parse import quote

from satchel.cli.engine.api_types.link_types import PlaceList, PlaceView
from satchel.cli.engine.http.client import Client

_PAGE = 100


def every_place(client: Client, link_id: str) -> list[PlaceView]:
    found: list[PlaceView] = []
    cursor = ""
    while True:
        page = client.call("GET", f"/links/{link_id}/places?limit={_PAGE}{cursor}", PlaceList)
        found += page.places
        if page.cursor is None:
            return found
        cursor = f"&cursor={quote(page.cursor)}"


def give_all_back(client: Client, link_id: str) -> int:
    """Give back the places of all downloads that were broken off; how many places."""
    broken_off = [place for place in every_place(client, link_id) if place.state == "broken-off"]
    for place in broken_off:
        client.call("DELETE", f"/links/{link_id}/places/{place.place_id}", type(None))
    return sum(place.places for place in broken_off)
