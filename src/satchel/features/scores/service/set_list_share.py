"""Shares a set list with an e-mail address, also before the person has an account. They read it and play from it.

The scores in it are shared one by one: whoever may not read one finds its place empty.
"""

from collections.abc import Sequence

from satchel.features.scores.model import Email, SetListUnknown, TooManySharers, public_id
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import Viewer
from satchel.features.scores.service.score_share import ScoreShare
from satchel.features.scores.service.set_list_change import shared_as, tell_readers
from satchel.features.scores.service.set_list_find import SCOPE, find_set_list
from satchel.features.scores.set_list_records import SET_LIST, SetListRow
from satchel.kernel.clock import iso
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.table import Write

# A list goes away in one transaction with the grants of all of them.
MAX_READERS = 80


async def share_set_list(scores: Scores, viewer: Viewer, public: str, written: str) -> ScoreShare:
    email = Email(scores.grants.address(written))
    if email == viewer.email:
        raise ChoiceUnfit("The set list is yours. Share it with somebody else.", field="email")
    row = (await find_set_list(scores, viewer, public, "owner")).row
    await scores.limits.shares.count(viewer.user_id)
    await _set_shared(scores, viewer, public, email, is_shared=True)
    (share,) = await _shown(scores, row, [email])
    return share


async def stop_share(scores: Scores, viewer: Viewer, public: str, written: str) -> None:
    """If it never was shared with them, that looks the same."""
    await _set_shared(scores, viewer, public, Email(scores.grants.address(written)), is_shared=False)


async def leave_set_list(scores: Scores, viewer: Viewer, public: str) -> None:
    """Give up a set list of somebody else."""
    found = await find_set_list(scores, viewer, public)
    if found.role == "owner":
        raise SetListUnknown("This set list is yours, and not shared with you. Delete it instead.")
    await _set_shared(scores, Viewer(found.row.owner, Email("")), public, viewer.email, is_shared=False)


async def list_shares(scores: Scores, viewer: Viewer, public: str) -> list[ScoreShare]:
    row = (await find_set_list(scores, viewer, public, "owner")).row
    return await _shown(scores, row, row.people)


async def _set_shared(scores: Scores, viewer: Viewer, public: str, email: Email, *, is_shared: bool) -> None:
    row = await _write(scores, viewer, public, email, is_shared=is_shared)
    if row is not None:
        await tell_readers(scores, row)


@optimistic_update()
async def _write(scores: Scores, viewer: Viewer, public: str, email: Email, *, is_shared: bool) -> SetListRow | None:
    """The list and the grant of the person change together. None if that is how it was."""
    row = (await find_set_list(scores, viewer, public, "owner")).row
    if (email in row.people) == is_shared:
        return None
    people = [*row.people, email] if is_shared else [each for each in row.people if each != email]
    if len(people) > MAX_READERS:
        raise TooManySharers(f"Share a set list with up to {MAX_READERS} people. Stop sharing it with somebody first.")
    shared = SET_LIST.update(
        [assign("p", [str(each) for each in people])], when=shared_as(row), owner=row.owner, list_id=row.list_id
    )
    grant: Write = scores.grants.delete(row.owner, email, SCOPE, public)
    if is_shared:
        grant = scores.grants.put(row.owner, email, SCOPE, public, row.name)
    await scores.tables.transact([shared, grant])
    return row


async def _shown(scores: Scores, row: SetListRow, people: Sequence[Email]) -> list[ScoreShare]:
    public = public_id(row.list_id)
    grants = await scores.grants.of_thing(row.owner, [SCOPE], public)
    granted = {each.granted_to: each.granted_at for each in grants if each.resource_id == public}
    shares: list[ScoreShare] = []
    for email in people:
        person = await scores.people.by_email(email)
        # An index may lag behind: who was added just now was added now.
        at = granted.get(email) or iso(scores.clock())
        name = None if person is None else person.name
        shares.append(ScoreShare(email=email, role="reader", name=name, granted_at=at))
    return shares
