"""What is stored of set lists: one row each, in the table of scores, in partitions of their own.

An entry names a score and its owner, so that one read finds all scores of a list. It says nothing of what the score is
called: whoever reads the list sees of each score only what they may see.
"""

import msgspec

from satchel.features.scores.model import Email, Etag, OwnerId, PageId, ScoreId, SetListId
from satchel.features.scores.records import OWNER
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import SCORES


class SetListEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A score that is played, and from which pages; without any, from all. A page may come more than once."""

    owner: OwnerId = msgspec.field(name="w")
    score_id: ScoreId = msgspec.field(name="s")
    notes: str = msgspec.field(name="n", default="")
    page_ids: list[PageId] = msgspec.field(name="p", default=[])
    # By so many semitones higher; engraved music only, and then all of it.
    transpose: int = msgspec.field(name="t", default=0)


class SetListRow(Record, frozen=True, kw_only=True):
    """A set list. Times are milliseconds since 1970."""

    owner: OwnerId
    list_id: SetListId
    name: str = attribute("n")
    notes: str = attribute("d", default="")
    etag: Etag = attribute("e")
    created_at: int = attribute("ca")
    changed_at: int = attribute("ua")
    entries: list[SetListEntry] = attribute("i", default=[])
    # With whom it is shared.
    people: list[Email] = attribute("p", default=[])


SET_LIST = Shape(
    SetListRow,
    SCORES,
    {"o": "st:{owner}", "s": "{list_id}"},
    owner=OWNER,
    about="A set list: scores in the order in which they are played, with notes and pages",
    separator=":",
    repeats_key_fields=False,
)
# A client may repeat its request when the server has started anew.
SET_LIST_CREATED = EphemeralKey(
    "set-list-created:{owner}:{key}",
    "value",
    owner=OWNER,
    about="Idempotency key of an owner → set list id",
    durable=True,
)
