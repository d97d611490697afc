"""Finds a score for somebody who may see it, and says which role they have. To others it does not exist."""

from dataclasses import dataclass, field

from satchel.features.scores.model import (
    RANKS,
    Email,
    OwnerId,
    Role,
    ScoreId,
    ScoreUnknown,
    read_id,
)
from satchel.features.scores.records import (
    SCORE,
    SCORE_EXTRA,
    SCORE_OWNER,
    SCORE_PEOPLE,
    ScoreExtraRow,
    ScorePeopleRow,
    ScoreRow,
)
from satchel.features.scores.service.context import Scores
from satchel.kernel.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks: a member, or nobody known."""

    user_id: OwnerId
    email: Email


NOBODY = Viewer(OwnerId(""), Email(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A score as it is stored, and the role that the viewer has."""

    row: ScoreRow
    extra: ScoreExtraRow
    people: dict[Email, str] = field(default_factory=dict[Email, str])
    role: Role

    @property
    def owner(self) -> OwnerId:
        return self.row.owner

    @property
    def score_id(self) -> ScoreId:
        return self.row.score_id


async def find_score(scores: Scores, viewer: Viewer, public: str, needs: Role = "reader") -> Found:
    """A score by the id that clients know, for somebody who has at least this role."""
    score_id = read_id(public)
    pointer = None if score_id is None else await SCORE_OWNER.get(scores.tables, score_id=score_id)
    if pointer is None:
        raise unknown()
    return await find_of(scores, viewer, pointer.owner, pointer.score_id, needs)


async def find_of(scores: Scores, viewer: Viewer, owner: OwnerId, score_id: ScoreId, needs: Role = "reader") -> Found:
    keys = [shape.key(owner=owner, score_id=score_id) for shape in (SCORE, SCORE_EXTRA, SCORE_PEOPLE)]
    main, extra, people = await scores.tables.get_many(SCORE.table, keys)
    if main is None:
        raise unknown()
    row = SCORE.read(main)
    shared = ScorePeopleRow(owner=owner, score_id=score_id) if people is None else SCORE_PEOPLE.read(people)
    role = role_of(viewer, row, shared)
    if role is None:
        raise unknown()
    if RANKS[role] < RANKS[needs]:
        raise Forbidden(f"You are a {role} of this score, and this needs the role {needs}. Ask its owner.")
    return Found(
        row=row,
        extra=ScoreExtraRow(owner=owner, score_id=score_id) if extra is None else SCORE_EXTRA.read(extra),
        people=dict(shared.people),
        role=role,
    )


def role_of(viewer: Viewer, row: ScoreRow, shared: ScorePeopleRow) -> Role | None:
    """None if they may not know of it."""
    if viewer.user_id and viewer.user_id == row.owner:
        return "owner"
    if viewer.email and (role := shared.people.get(viewer.email)):
        return role
    return "reader" if row.access == "pu" else None


def unknown() -> ScoreUnknown:
    return ScoreUnknown("This score does not exist, or you may not see it.")
