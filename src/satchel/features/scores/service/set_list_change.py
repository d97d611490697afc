"""Makes, changes and deletes set lists. Each change is of the whole list, on condition of the ETag that was read."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from satchel.features.scores.events import SetListChangedEvent
from satchel.features.scores.model import (
    MAX_ENTRIES,
    MAX_ENTRY_NOTES,
    MAX_PAGES,
    MAX_SET_LISTS,
    Etag,
    OwnerId,
    PageId,
    ScoreUnknown,
    SetListChanged,
    SetListId,
    TooManySetLists,
    check_description,
    check_title,
    new_stored_id,
    one_line,
    public_id,
    read_id,
)
from satchel.features.scores.records import SCORE_OWNER
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import NotEngraved
from satchel.features.scores.service.score_find import Viewer, find_of
from satchel.features.scores.service.set_list_find import SCOPE, find_set_list, own_set_lists
from satchel.features.scores.set_list_records import SET_LIST, SET_LIST_CREATED, SetListEntry, SetListRow
from satchel.kernel.errors import Unavailable
from satchel.kernel.unfit import ChoiceUnfit, CombinationUnfit, TextUnfit
from satchel.live import tell
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, assign, attr
from satchel.stores.ports.table import ConditionFailed, TransactionCancelled

replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry as somebody writes it: a score by the id that clients know."""

    score_id: str
    notes: str
    page_ids: Sequence[int]
    transpose: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSetList:
    """All of a set list."""

    name: str
    notes: str
    entries: Sequence[NewEntry]


async def create_set_list(scores: Scores, viewer: Viewer, new: NewSetList, *, idempotency_key: str | None) -> str:
    """The id that clients know. A retry with the same key is the same list, also if it was deleted since."""
    owner, now = viewer.user_id, scores.now()
    key = None
    if idempotency_key is not None:
        key = IdempotencyKey(scores.ephemeral, SET_LIST_CREATED(owner=owner, key=idempotency_key))
        if (made := await key.made()) is not None:
            return public_id(SetListId(made))
    fields = await _checked(scores, viewer, new, [])
    list_id = SetListId(new_stored_id())
    if key is not None:
        list_id = SetListId(await key.reserve(list_id))
    row = replace(fields, owner=owner, list_id=list_id, etag=Etag(new_stored_id()), created_at=now, changed_at=now)
    # Two at once may make one more than this: it keeps a list of lists short, and protects nothing.
    known = {each.list_id for each in await own_set_lists(scores, owner)}
    if len(known - {list_id}) >= MAX_SET_LISTS:
        if key is not None:
            await key.release()
        raise TooManySetLists(f"You have {len(known)} set lists, and may have {MAX_SET_LISTS}. Delete one first.")
    with suppress(ConditionFailed, TransactionCancelled):
        await scores.tables.transact([SET_LIST.put(row, when=attr("o").absent())])
    if key is not None:
        await key.confirm(list_id)
    return public_id(list_id)


async def change_set_list(
    scores: Scores, viewer: Viewer, public: str, etag: Etag | None, new: NewSetList
) -> SetListRow:
    row = await _change(scores, viewer, public, etag, new)
    await tell_readers(scores, row)
    return row


async def delete_set_list(scores: Scores, viewer: Viewer, public: str) -> None:
    """For everybody. The scores in it stay."""
    await tell_readers(scores, await _take_away(scores, viewer, public))


async def tell_readers(scores: Scores, row: SetListRow) -> None:
    """Those with whom a set list is shared, and its owner on other devices."""
    people = [await scores.people.by_email(email) for email in row.people]
    ids = {row.owner, *(each.person_id for each in people if each is not None)}
    # An event is a hint. What it is about has happened, whether or not somebody hears of it.
    with suppress(Unavailable):
        await scores.ephemeral.together(*tell(ids, SetListChangedEvent(list_id=public_id(row.list_id))))


def shared_as(row: SetListRow) -> Condition:
    """It is shared with the same people as when it was read."""
    same = attr("p") == [str(each) for each in row.people]
    return same if row.people else same | attr("p").absent()


@optimistic_update()
async def _change(scores: Scores, viewer: Viewer, public: str, etag: Etag | None, new: NewSetList) -> SetListRow:
    old = (await find_set_list(scores, viewer, public, "owner")).row
    if etag is not None and old.etag != etag:
        raise SetListChanged("The set list was changed since you read it. Read it again, then decide.", etag=old.etag)
    fields = await _checked(scores, viewer, new, old.entries)
    row = replace(
        old,
        name=fields.name,
        notes=fields.notes,
        entries=fields.entries,
        etag=Etag(new_stored_id()),
        changed_at=scores.now(),
    )
    change = SET_LIST.update(
        [
            assign("n", row.name),
            assign("d", row.notes),
            assign("i", msgspec.to_builtins(row.entries)),
            assign("e", row.etag),
            assign("ua", row.changed_at),
        ],
        when=attr("e") == old.etag,
        owner=row.owner,
        list_id=row.list_id,
    )
    await scores.tables.transact([change])
    return row


@optimistic_update()
async def _take_away(scores: Scores, viewer: Viewer, public: str) -> SetListRow:
    row = (await find_set_list(scores, viewer, public, "owner")).row
    grants = [scores.grants.delete(row.owner, email, SCOPE, public) for email in row.people]
    gone = SET_LIST.delete(when=shared_as(row), owner=row.owner, list_id=row.list_id)
    await scores.tables.transact([gone, *grants])
    return row


async def _checked(scores: Scores, viewer: Viewer, new: NewSetList, known: Sequence[SetListEntry]) -> SetListRow:
    """A row without ids. What the list has already stays, even if its owner may not read it any more."""
    if len(new.entries) > MAX_ENTRIES:
        raise TextUnfit(f"Put up to {MAX_ENTRIES} scores into a set list.", field="entries")
    return SetListRow(
        owner=OwnerId(""),
        list_id=SetListId(""),
        name=check_title(new.name),
        notes=check_description(new.notes),
        etag=Etag(""),
        created_at=0,
        changed_at=0,
        entries=[await _entry(scores, viewer, each, known) for each in new.entries],
    )


async def _entry(scores: Scores, viewer: Viewer, new: NewEntry, known: Sequence[SetListEntry]) -> SetListEntry:
    notes, page_ids = one_line(new.notes), [PageId(each) for each in new.page_ids]
    if len(notes) > MAX_ENTRY_NOTES:
        raise TextUnfit(f"Use up to {MAX_ENTRY_NOTES} characters for the notes of an entry.", field="entries")
    if len(page_ids) > MAX_PAGES:
        raise TextUnfit(f"Choose up to {MAX_PAGES} pages of a score.", field="entries")
    if new.transpose and page_ids:
        raise CombinationUnfit(
            "A score that is transposed is played with all its pages. Choose none of them.", field="entries"
        )
    score_id = read_id(new.score_id)
    same = [each for each in known if each.score_id == score_id]
    for each in same:
        if (not page_ids or page_ids == each.page_ids) and new.transpose in (0, each.transpose):
            return replace(each, notes=notes, page_ids=page_ids, transpose=new.transpose)
    pointer = None if score_id is None else await SCORE_OWNER.get(scores.tables, score_id=score_id)
    if pointer is None:
        raise ScoreUnknown("A score of this set list does not exist, or you may not see it.")
    found = await find_of(scores, viewer, pointer.owner, pointer.score_id)
    if not set(page_ids) <= {page.page_id for page in found.row.data.pages}:
        raise ChoiceUnfit("Choose pages that the score has. Read it again.", field="entries")
    if new.transpose and all(page.kind != "s" for page in found.row.data.pages):
        raise NotEngraved("Only music that was added as MusicXML, MEI or ABC can be transposed.")
    return SetListEntry(
        owner=found.owner, score_id=found.score_id, notes=notes, page_ids=page_ids, transpose=new.transpose
    )
