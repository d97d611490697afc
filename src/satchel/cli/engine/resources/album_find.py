"""Find an album by what somebody typed: its id or the end of it, its folder, or its name."""

from collections.abc import Sequence
from urllib.parse import quote

from satchel.cli.engine.api_types.album_types import AlbumList, AlbumView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.terminal.output import CommandFailed

# As much of an id as lists show.
SHORT_ID = 8
TRAYS = {"undated": "Undated", "bin": "Bin"}


def all_albums(client: Client, *, mine: bool = False) -> list[AlbumView]:
    return client.call("GET", f"/albums?mine={'true' if mine else 'false'}", AlbumList).albums


def album_names(client: Client) -> dict[str, str]:
    """Names by id, also of the trays."""
    return {**TRAYS, **{album.album_id: album.name for album in all_albums(client)}}


def find_album(client: Client, typed: str) -> AlbumView:
    """Raises `CommandFailed` if there is none, or more than one."""
    found = _matches(all_albums(client), typed)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(short_id(album) for album in found)
        raise CommandFailed(f"{len(found)} albums are called {typed}. Name one by its id: {ids}.")
    try:
        # It may have been renamed since.
        folder = quote(f"/{typed.strip().lstrip('/')}", safe="")
        return client.call("GET", f"/albums/by-folder?folder={folder}", AlbumView)
    except Refused as refusal:
        if refusal.status != 404:
            raise
    raise CommandFailed(f"There is no album {typed}. `satchel album list` lists them.")


def short_id(album: AlbumView) -> str:
    return album.album_id[-SHORT_ID:]


def _matches(albums: Sequence[AlbumView], typed: str) -> list[AlbumView]:
    wanted = typed.strip()
    exact = [album for album in albums if wanted in (album.album_id, album.folder) or f"/{wanted}" == album.folder]
    named = [album for album in albums if album.name.casefold() == wanted.casefold()]
    by_end = [album for album in albums if len(wanted) >= SHORT_ID and album.album_id.endswith(wanted)]
    return exact or named or by_end
