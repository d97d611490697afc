"""The photos of an album, by day."""

from collections import Counter
from urllib.parse import quote

from satchel.cli.engine.api_types.photo_types import PhotoColumns
from satchel.cli.engine.http.client import Client

_PAGE = 1000


def count_days(client: Client, album_id: str) -> dict[str, int]:
    """How many photos each day has, in their order."""
    days: Counter[str] = Counter()
    cursor = ""
    while True:
        page = client.call("GET", f"/albums/{album_id}/medias?limit={_PAGE}{cursor}", PhotoColumns)
        days.update(time[:10] for time in page.times)
        if page.cursor is None:
            return dict(sorted(days.items()))
        cursor = f"&cursor={quote(page.cursor, safe='')}"
