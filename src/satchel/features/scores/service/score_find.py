"""Finds a score for somebody who may see it, and says which role they have. To others it does not exist."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from satchel.features.scores.layer_records import LAYER, LayerRow
from satchel.features.scores.model import (
    RANKS,
    Email,
    OwnerId,
    Role,
    ScoreId,
    ScoreUnknown,
    SharedRole,
    read_id,
)
from satchel.features.scores.records import (
    SCORE,
    SCORE_EXTRA,
    SCORE_OWNER,
    SCORE_PEOPLE,
    ScoreCardRow,
    ScoreExtraRow,
    ScorePeopleRow,
    ScoreRow,
)
from satchel.features.scores.service.context import Scores
from satchel.kernel.errors import Forbidden
from satchel.stores.ports.table import Item, StartsWith

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks: a member, or somebody without an account, of whom only the network is known."""

    user_id: OwnerId
    email: Email
    address: str = ""


NOBODY = Viewer(OwnerId(""), Email(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A score as it is stored, and the role that the viewer has."""

    row: ScoreRow
    extra: ScoreExtraRow
    people: dict[Email, SharedRole] = field(default_factory=dict[Email, SharedRole])
    role: Role

    @property
    def owner(self) -> OwnerId:
        return self.row.owner

    @property
    def score_id(self) -> ScoreId:
        return self.row.score_id


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeScore:
    """A score with its layers, and with the texts of annotations by chunk and slot."""

    found: Found
    layers: list[LayerRow]
    chunks: Mapping[str, Mapping[str, str]]


async def find_score(scores: Scores, viewer: Viewer, public: str, needs: Role = "reader") -> Found:
    """A score by the id that clients know, for somebody who has at least this role."""
    score_id = read_id(public)
    pointer = None if score_id is None else await SCORE_OWNER.get(scores.tables, score_id=score_id)
    if pointer is None:
        raise unknown()
    return await find_of(scores, viewer, pointer.owner, pointer.score_id, needs)


async def read_whole(scores: Scores, viewer: Viewer, public: str) -> "WholeScore":
    """A score with its layers and the texts of its annotations, by one query."""
    score_id = read_id(public)
    pointer = None if score_id is None else await SCORE_OWNER.get(scores.tables, score_id=score_id)
    if pointer is None:
        raise unknown()
    return await read_whole_of(scores, viewer, pointer.owner, pointer.score_id)


async def read_whole_of(scores: Scores, viewer: Viewer, owner: OwnerId, score_id: ScoreId) -> "WholeScore":
    partition = SCORE.keys["o"].render({"owner": owner})
    items: dict[str, Item] = {}
    cursor: str | None = None
    while True:
        page = await scores.tables.query(SCORE.table, partition, StartsWith(score_id), limit=_PAGE, cursor=cursor)
        items |= {item["s"]: item for item in page.items}
        if (cursor := page.cursor) is None:
            break
    main, extra, people = (items.get(f"{score_id}{end}") for end in ("", ":x", ":p"))
    found = _found(viewer, owner, score_id, main, extra, people)
    layers = [LAYER.read(item) for sort, item in items.items() if sort.startswith(f"{score_id}:l:")]
    chunks = {sort[-3:]: item["a"] for sort, item in items.items() if sort.startswith(f"{score_id}:a:")}
    return WholeScore(found=found, layers=layers, chunks=chunks)


async def find_of(scores: Scores, viewer: Viewer, owner: OwnerId, score_id: ScoreId, needs: Role = "reader") -> Found:
    keys = [shape.key(owner=owner, score_id=score_id) for shape in (SCORE, SCORE_EXTRA, SCORE_PEOPLE)]
    main, extra, people = await scores.tables.get_many(SCORE.table, keys)
    found = _found(viewer, owner, score_id, main, extra, people)
    if RANKS[found.role] < RANKS[needs]:
        raise Forbidden(f"You are a {found.role} of this score, and this needs the role {needs}. Ask its owner.")
    return found


def _found(
    viewer: Viewer, owner: OwnerId, score_id: ScoreId, main: Item | None, extra: Item | None, people: Item | None
) -> Found:
    if main is None:
        raise unknown()
    row = SCORE.read(main)
    shared = ScorePeopleRow(owner=owner, score_id=score_id) if people is None else SCORE_PEOPLE.read(people)
    role = role_of(viewer, row, shared.people)
    if role is None:
        raise unknown()
    return Found(
        row=row,
        extra=ScoreExtraRow(owner=owner, score_id=score_id) if extra is None else SCORE_EXTRA.read(extra),
        people=dict(shared.people),
        role=role,
    )


def role_of(viewer: Viewer, row: ScoreRow | ScoreCardRow, people: Mapping[Email, SharedRole]) -> Role | None:
    """None if they may not know of it."""
    if viewer.user_id and viewer.user_id == row.owner:
        return "owner"
    if viewer.email and (role := people.get(viewer.email)):
        return role
    return "reader" if row.access == "pu" else None


def unknown() -> ScoreUnknown:
    return ScoreUnknown("This score does not exist, or you may not see it.")
