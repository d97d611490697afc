"""Shares a score with an e-mail address, also before the person has an account: as reader, marker or editor."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.scores.events import ScoreChangedEvent
from satchel.features.scores.model import (
    SHARED_ROLES,
    Email,
    ScoreUnknown,
    SharedRole,
    TooManySharers,
    public_id,
)
from satchel.features.scores.records import SCORE_PEOPLE, ScorePeopleRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import Found, Viewer, find_score
from satchel.features.scores.service.score_presence import tell_onlookers
from satchel.kernel.clock import iso
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Write

MAX_PEOPLE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreShare:
    """Somebody that a score is shared with. They have a name if they have an account."""

    email: Email
    role: SharedRole
    name: str | None
    granted_at: str


async def share_score(scores: Scores, viewer: Viewer, public: str, written: str, role: SharedRole) -> ScoreShare:
    """Or change the role of somebody that it is shared with."""
    email = Email(scores.grants.address(written))
    if email == viewer.email:
        raise ChoiceUnfit("The score is yours. Share it with somebody else.", field="email")
    found = await find_score(scores, viewer, public, "owner")
    await scores.limits.shares.count(viewer.user_id)
    await _set_role(scores, viewer, public, email, role)
    (share,) = await _shown(scores, found, {email: role})
    return share


async def stop_share(scores: Scores, viewer: Viewer, public: str, written: str) -> None:
    """If it never was shared with them, that looks the same."""
    email = Email(scores.grants.address(written))
    await _set_role(scores, viewer, public, email, None)


async def leave_score(scores: Scores, viewer: Viewer, public: str) -> None:
    """Give up a score of somebody else."""
    found = await find_score(scores, viewer, public)
    if viewer.email not in found.people:
        raise ScoreUnknown("This score is not shared with you.")
    await _set_role(scores, Viewer(found.owner, Email("")), public, viewer.email, None)


async def list_shares(scores: Scores, viewer: Viewer, public: str) -> list[ScoreShare]:
    found = await find_score(scores, viewer, public, "owner")
    return await _shown(scores, found, found.people)


@optimistic_update()
async def _set_role(scores: Scores, viewer: Viewer, public: str, email: Email, role: SharedRole | None) -> None:
    """The list of the score and the grant of the person change together."""
    found = await find_score(scores, viewer, public, "owner")
    people: dict[Email, SharedRole] = {each: kept for each, kept in found.people.items() if each != email}
    if role is not None:
        people[email] = role
    if len(people) > MAX_PEOPLE:
        raise TooManySharers(f"A score is shared with up to {MAX_PEOPLE} people. Stop sharing it with somebody first.")
    if people == found.people:
        return
    row = ScorePeopleRow(owner=found.owner, score_id=found.score_id, people=people)
    known: dict[str, str] = {str(each): kept for each, kept in found.people.items()}
    before = attr("p") == known if known else attr("p").absent()
    await scores.tables.transact([SCORE_PEOPLE.put(row, when=before), *_grants(scores, found, email, role)])
    # Who may not see it any more has to look away.
    event = ScoreChangedEvent(score_id=public, etag=found.row.etag)
    await tell_onlookers(scores, found, event, lambda each: each.email == email)


def _grants(scores: Scores, found: Found, email: Email, role: SharedRole | None) -> Sequence[Write]:
    score_id, title = public_id(found.score_id), found.row.data.title
    gone = [each for each in SHARED_ROLES if each != role]
    writes = [scores.grants.delete(found.owner, email, f"score:{each}", score_id) for each in gone]
    if role is not None:
        writes.append(scores.grants.put(found.owner, email, f"score:{role}", score_id, title))
    return writes


async def _shown(scores: Scores, found: Found, people: dict[Email, SharedRole]) -> list[ScoreShare]:
    scopes = [f"score:{role}" for role in SHARED_ROLES]
    grants = await scores.grants.of_thing(found.owner, scopes, public_id(found.score_id))
    granted = {each.granted_to: each.granted_at for each in grants if each.resource_id == public_id(found.score_id)}
    shares: list[ScoreShare] = []
    for email, role in people.items():
        person = await scores.people.by_email(email)
        name = None if person is None else person.name
        # An index may lag behind: who was added just now was added now.
        at = granted.get(email) or iso(scores.clock())
        shares.append(ScoreShare(email=email, role=role, name=name, granted_at=at))
    return sorted(shares, key=lambda each: (each.granted_at, each.email))
