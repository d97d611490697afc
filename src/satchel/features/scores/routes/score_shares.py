"""Who may see, mark and edit a score: share, stop sharing, list, leave."""

import msgspec

from satchel.edge.api.endpoints import Body, Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.http.callers import Member
from satchel.features.scores.model import ScoreUnknown, SharedRole, TooManySharers
from satchel.features.scores.routes.scores import viewer_of
from satchel.features.scores.service import score_share
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_share import ScoreShare
from satchel.kernel.errors import Forbidden, TooMany


class ScoreShareBody(Body, frozen=True, kw_only=True):
    """A reader sees a score, a marker has layers in it, an editor changes it."""

    role: SharedRole = "reader"


class ScoreShareView(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody that a score is shared with. Without an account they have no name."""

    email: str
    role: SharedRole
    name: str | None
    granted_at: str


class ScoreShareList(msgspec.Struct, frozen=True):
    """With whom a score is shared."""

    shares: list[ScoreShareView]


def routes(scores: Scores) -> Router:
    router = Router("scores")

    @router.get("/scores/{score_id}/shares", raises=(ScoreUnknown, Forbidden))
    async def list_score_shares(member: Member, score_id: str) -> ScoreShareList:
        """List with whom you share a score of yours."""
        shares = await score_share.list_shares(scores, viewer_of(member), score_id)
        return ScoreShareList([share_view(each) for each in shares])

    @router.put("/scores/{score_id}/shares/{email}", raises=(ScoreUnknown, Forbidden, TooManySharers, TooMany))
    async def share_score(member: Member, score_id: str, email: EmailAddress, body: ScoreShareBody) -> ScoreShareView:
        """Share a score of yours with an e-mail address, with or without an account; or change the role."""
        return share_view(await score_share.share_score(scores, viewer_of(member), score_id, email, body.role))

    @router.delete("/scores/{score_id}/shares/{email}", raises=(ScoreUnknown, Forbidden))
    async def stop_sharing_score(member: Member, score_id: str, email: EmailAddress) -> None:
        """Stop sharing a score of yours with an address."""
        await score_share.stop_share(scores, viewer_of(member), score_id, email)

    @router.delete("/scores/{score_id}/membership", raises=(ScoreUnknown,))
    async def leave_score(member: Member, score_id: str) -> None:
        """Leave a score that somebody shares with you."""
        await score_share.leave_score(scores, viewer_of(member), score_id)

    return router


def share_view(share: ScoreShare) -> ScoreShareView:
    return ScoreShareView(email=share.email, role=share.role, name=share.name, granted_at=share.granted_at)
