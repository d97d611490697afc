"""The photos of an album, by day; and which photo of the server a local file is."""

import hashlib
import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from satchel.cli.engine.api_types.photo_types import KnownList, PhotoColumns
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed

_PAGE = 1000
_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{44,60}")


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


def media_id_of(client: Client, typed: str) -> str:
    """An id as it is, and a file by its bytes."""
    if not Path(typed).exists() and _MEDIA_ID.fullmatch(typed):
        return typed
    try:
        with Path(typed).open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size_bytes = file.tell()
    except OSError as error:
        raise CommandFailed(f"{typed} cannot be read: {error.strerror}.") from error
    body = {"files": [{"sha256": sha256, "size_bytes": size_bytes}]}
    (known,) = client.call("POST", "/photos/known", KnownList, body).files
    if known.id is None:
        raise CommandFailed(f"{typed} is not stored. `satchel photos backup` stores it.")
    return known.id
