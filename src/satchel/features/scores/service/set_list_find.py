"""Finds set lists for their owners and for those with whom they are shared, and what each may see of their scores.

A set list gives nobody a score. Its entries show what the reader of the list may read anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.scores.model import Email, OwnerId, SetListId, SetListRole, SetListUnknown, read_id
from satchel.features.scores.records import SCORE_CARD, SCORE_PEOPLE, ScoreCardRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import Viewer, role_of
from satchel.features.scores.set_list_records import SET_LIST, SetListEntry, SetListRow
from satchel.kernel.errors import Forbidden
from satchel.kernel.names import folded

SCOPE = "set-list:reader"
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class FoundSetList:
    """A set list, and the role that the viewer has."""

    row: SetListRow
    role: SetListRole


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry, and what its list shows of the score; None if the viewer may not read it, or it is gone."""

    entry: SetListEntry
    card: ScoreCardRow | None


async def list_set_lists(scores: Scores, viewer: Viewer) -> list[FoundSetList]:
    """By name: one's own, and those shared with one."""
    own = [FoundSetList(row, "owner") for row in await own_set_lists(scores, viewer.user_id)]
    keys = [SET_LIST.key(owner=owner, list_id=list_id) for owner, list_id in await _shared(scores, viewer.email)]
    items = await scores.tables.get_many(SET_LIST.table, keys) if keys else []
    rows = [SET_LIST.read(item) for item in items if item is not None]
    shared = [FoundSetList(row, "reader") for row in rows if viewer.email in row.people]
    return sorted([*own, *shared], key=lambda each: (folded(each.row.name), each.row.list_id))


async def own_set_lists(scores: Scores, owner: OwnerId) -> list[SetListRow]:
    found: list[SetListRow] = []
    partition, cursor = SET_LIST.keys["o"].render({"owner": owner}), None
    while True:
        page = await scores.tables.query(SET_LIST.table, partition, limit=_PAGE, cursor=cursor)
        found += map(SET_LIST.read, page.items)
        if (cursor := page.cursor) is None:
            return found


async def find_set_list(scores: Scores, viewer: Viewer, public: str, needs: SetListRole = "reader") -> FoundSetList:
    """A set list by the id that clients know. To those with whom it is not shared it does not exist."""
    list_id = read_id(public)
    if list_id is None:
        raise _unknown()
    own = await SET_LIST.get(scores.tables, owner=viewer.user_id, list_id=list_id)
    if own is not None:
        return FoundSetList(own, "owner")
    for owner, shared_id in await _shared(scores, viewer.email):
        row = await SET_LIST.get(scores.tables, owner=owner, list_id=shared_id) if shared_id == list_id else None
        if row is not None and viewer.email in row.people:
            if needs == "owner":
                raise Forbidden("Only the owner of a set list changes it. Ask them.")
            return FoundSetList(row, "reader")
    raise _unknown()


async def show_entries(scores: Scores, viewer: Viewer, entries: Sequence[SetListEntry]) -> list[ShownEntry]:
    """By two reads, however many scores there are."""
    places = list(dict.fromkeys((each.owner, each.score_id) for each in entries))
    shapes = (SCORE_CARD, SCORE_PEOPLE)
    keys = [shape.key(owner=owner, score_id=score_id) for shape in shapes for owner, score_id in places]
    items = await scores.tables.get_many(SCORE_CARD.table, keys) if keys else []
    readable: dict[tuple[str, str], ScoreCardRow] = {}
    for place, item, shared in zip(places, items[: len(places)], items[len(places) :], strict=True):
        card = None if item is None else SCORE_CARD.read(item)
        people = {} if shared is None else SCORE_PEOPLE.read(shared).people
        if card is not None and role_of(viewer, card, people) is not None:
            readable[place] = card
    return [ShownEntry(each, readable.get((each.owner, each.score_id))) for each in entries]


async def _shared(scores: Scores, email: Email) -> list[tuple[OwnerId, SetListId]]:
    grants = await scores.grants.of_person(email, SCOPE)
    found = [(OwnerId(grant.resource_owner), read_id(grant.resource_id)) for grant in grants]
    return [(owner, SetListId(list_id)) for owner, list_id in found if list_id is not None]


def _unknown() -> SetListUnknown:
    return SetListUnknown("This set list does not exist, or it is not shared with you.")
