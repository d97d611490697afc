"""Find set lists by what somebody typed, and write them back with another order."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from msgspec import to_builtins

from satchel.cli.engine.api_types.score_types import ScoreList, ScoreView
from satchel.cli.engine.api_types.set_list_types import SetListCards, SetListView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.numbers import whole_number
from satchel.cli.engine.terminal.output import CommandFailed, Misused

# As much of an id as lists show.
SHORT_ID = 8
_RANGE = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")


def list_set_lists(client: Client) -> SetListCards:
    return client.call("GET", "/set-lists", SetListCards)


def find_set_list(client: Client, typed: str) -> SetListView:
    """Raises `CommandFailed` if there is none, or more than one."""
    cards = list_set_lists(client).set_lists
    named = [card.list_id for card in cards if card.name.casefold() == typed.strip().casefold()]
    found = _by_id([card.list_id for card in cards], typed) or named
    return client.call("GET", f"/set-lists/{_only(found, typed, 'set list', 'setlist')}", SetListView)


def create_set_list(client: Client, name: str, scores: Sequence[str]) -> SetListView:
    entries = [{"score_id": _score_id(client, typed)} for typed in scores]
    return client.make("/set-lists", SetListView, {"name": name, "entries": entries})


def add_entry(
    client: Client, name: str, score: str, *, at: str | None, notes: str, pages: str, transpose: int
) -> SetListView:
    found, score_id = find_set_list(client, name), _score_id(client, score)
    entries = _entries(found)
    page_ids = _page_ids(client, score_id, pages) if pages else []
    place = len(entries) if at is None else _place(at, len(entries) + 1)
    entries.insert(place, {"score_id": score_id, "notes": notes, "page_ids": page_ids, "transpose": transpose})
    return _write(client, found, entries)


def move_entry(client: Client, name: str, place: str, to: str) -> SetListView:
    found = find_set_list(client, name)
    entries = _entries(found)
    moved = entries.pop(_place(place, len(entries)))
    entries.insert(_place(to, len(entries) + 1), moved)
    return _write(client, found, entries)


def remove_entry(client: Client, name: str, place: str) -> SetListView:
    found = find_set_list(client, name)
    entries = _entries(found)
    del entries[_place(place, len(entries))]
    return _write(client, found, entries)


def rename_set_list(client: Client, name: str, new: str | None, notes: str | None) -> SetListView:
    found = find_set_list(client, name)
    return _write(client, found, _entries(found), name=new, notes=notes)


def _write(
    client: Client,
    old: SetListView,
    entries: list[dict[str, Any]],
    *,
    name: str | None = None,
    notes: str | None = None,
) -> SetListView:
    body = {"name": name or old.name, "notes": old.notes if notes is None else notes, "entries": entries}
    headers = {"if-match": f'"{old.etag}"'}
    return client.call("PUT", f"/set-lists/{old.list_id}", SetListView, body, headers=headers)


def _entries(found: SetListView) -> list[dict[str, Any]]:
    kept = ("score_id", "notes", "page_ids", "transpose")
    return [{name: to_builtins(getattr(entry, name)) for name in kept} for entry in found.entries]


def _place(typed: str, count: int) -> int:
    if not count:
        raise Misused("The set list is empty.")
    return whole_number("The place", typed, least=1, most=count) - 1


def _score_id(client: Client, typed: str) -> str:
    scores = client.call("GET", "/scores", ScoreList).scores
    named = [score.score_id for score in scores if score.title.casefold() == typed.strip().casefold()]
    return _only(_by_id([score.score_id for score in scores], typed) or named, typed, "score", "score")


def _page_ids(client: Client, score_id: str, typed: str) -> list[int]:
    """Pages as people count them, such as `1-3,5`; backwards and twice is possible."""
    pages = client.call("GET", f"/scores/{quote(score_id)}", ScoreView).pages
    numbers: list[int] = []
    for part in typed.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None:
            raise Misused("Name pages like 1-3,5.")
        first, last = int(found[1]), int(found[2] or found[1])
        numbers += range(first, last + 1) if first <= last else range(first, last - 1, -1)
    if any(not 1 <= number <= len(pages) for number in numbers):
        raise Misused(f"The score has pages 1 to {len(pages)}.")
    return [pages[number - 1].page_id for number in numbers]


def _by_id(ids: Sequence[str], typed: str) -> list[str]:
    return [each for each in ids if each == typed or (len(typed) >= SHORT_ID and each.endswith(typed))]


def _only(found: Sequence[str], typed: str, kind: str, verb: str) -> str:
    if len(found) > 1:
        ids = ", ".join(each[-SHORT_ID:] for each in found)
        raise CommandFailed(f"{len(found)} {kind}s are called {typed}. Name one by its id: {ids}.")
    if not found:
        raise CommandFailed(f"There is no {kind} {typed}. `satchel {verb} list` lists them.")
    return found[0]
