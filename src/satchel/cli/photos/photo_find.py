"""`satchel photos find`: prints photos as the server finds them."""

import json
from urllib.parse import urlencode

from satchel.cli.engine.api_types.photo_types import FoundPhotos
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import printable


def find_photos(client: Client, wanted: dict[str, str], *, most: int, as_json: bool) -> int:
    """Print up to so many photos, page by page. How many they were."""
    found, cursor = 0, ""
    while found < most:
        asked = {**wanted, "limit": str(min(most - found, 1000))}
        if cursor:
            asked["cursor"] = cursor
        page = client.call("GET", f"/photos/search?{urlencode(asked)}", FoundPhotos)
        photos = page.photos
        for owner, media_id, time, name in zip(photos.owners, photos.ids, photos.times, page.names, strict=True):
            if as_json:
                print(json.dumps({"owner": owner, "id": media_id, "local_time": time or None, "name": name}))
            else:
                print(printable(f"{time[:19].replace('T', ' ') or 'undated':19}  {name}  {media_id}"))
        found += len(photos.ids)
        if page.cursor is None:
            break
        cursor = page.cursor
    return found
