"""`satchel photos duplicates`: list photos that look alike, keep some of a group, or say that they are different."""

import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from msgspec import to_builtins

from satchel.cli.engine.api_types.photo_types import DuplicateGroup, DuplicateList, Resolved
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import album_names
from satchel.cli.engine.resources.album_moves import shown_photos
from satchel.cli.engine.terminal.output import CommandFailed, Misused, paint, print_json, printable
from satchel.cli.engine.terminal.prompts import confirm
from satchel.cli.engine.terminal.sizes import shown_bytes

# As much of an id as has to be typed.
_LEAST = 8


def list_groups(client: Client, *, most: int, as_json: bool) -> int:
    """Print up to so many groups. How many they were."""
    names = {} if as_json else album_names(client)
    found = 0
    for group in _groups(client):
        if found == most:
            break
        found += 1
        if as_json:
            print(json.dumps(to_builtins(group)))
        else:
            for line in _lines(group, names):
                print(line)
    return found


def keep_some(client: Client, typed: str, keep: Sequence[str], *, best: bool, yes: bool, as_json: bool) -> None:
    group = _find(client, typed)
    kept = [group.photos.ids[group.best]] if best else [_photo(group, each) for each in keep]
    going = len(group.photos.ids) - len(set(kept))
    if not yes:
        confirm(f"{shown_photos(going)} would go to the bin, for 30 days.")
    path = f"/photos/duplicates/{quote(group.group_id, safe='')}/keep"
    resolved = client.call("POST", path, Resolved, {"keep": kept})
    if as_json:
        print_json({"group_id": group.group_id, "kept": kept, "deleted": resolved.deleted})
    else:
        print(f"{shown_photos(resolved.deleted)} went to the bin.")


def dismiss(client: Client, typed: str, *, as_json: bool) -> None:
    group = _find(client, typed)
    client.call("DELETE", f"/photos/duplicates/{quote(group.group_id, safe='')}", type(None))
    if as_json:
        print_json({"group_id": group.group_id, "dismissed": True})
    else:
        print("They count as different photos from now on.")


def _groups(client: Client) -> Iterator[DuplicateGroup]:
    cursor = ""
    while True:
        asked = urlencode({"limit": "100"} | ({"cursor": cursor} if cursor else {}))
        page = client.call("GET", f"/photos/duplicates?{asked}", DuplicateList)
        yield from page.groups
        if page.cursor is None:
            return
        cursor = page.cursor


def _find(client: Client, typed: str) -> DuplicateGroup:
    if len(typed) < _LEAST:
        raise Misused(f"Name a group by at least {_LEAST} characters of its id.")
    found = [group for group in _groups(client) if _typeable(group.group_id).startswith(_typeable(typed))]
    if len(found) != 1:
        raise CommandFailed(f"There is no group {typed}. `satchel photos duplicates` lists them.")
    return found[0]


def _photo(group: DuplicateGroup, typed: str) -> str:
    found = [each for each in group.photos.ids if len(typed) >= _LEAST and _typeable(each).startswith(_typeable(typed))]
    if len(found) != 1:
        raise CommandFailed(f"There is no photo {typed} in this group.")
    return found[0]


def _lines(group: DuplicateGroup, albums: dict[str, str]) -> Iterator[str]:
    yield paint(f"Group {_typeable(group.group_id)[:12]}, {shown_photos(len(group.photos.ids))}", "strong")
    rows = zip(group.photos.ids, group.photos.times, group.names, group.sizes, group.album_ids, strict=True)
    for at, (media_id, time, name, size, album_id) in enumerate(rows):
        mark = "best" if at == group.best else "    "
        pixels = f"{group.widths[at]} × {group.heights[at]}"
        moment = time[:19].replace("T", " ") or "undated"
        album = albums.get(album_id, album_id)
        yield printable(
            f"  {mark}  {_typeable(media_id)[:12]}  {moment:19}  {pixels:>13}  {shown_bytes(size):>9}  {name}  {album}"
        )


def _typeable(media_id: str) -> str:
    """Without the hyphens that would make it look like an option."""
    return media_id.lstrip("-")
