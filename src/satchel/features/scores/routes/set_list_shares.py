"""Who reads a set list: share, stop sharing, list, leave."""

from satchel.edge.api.endpoints import Router
from satchel.edge.api.fields import EmailAddress
from satchel.edge.http.callers import Member
from satchel.features.scores.model import SetListUnknown, TooManySharers
from satchel.features.scores.routes.score_shares import ScoreShareList, ScoreShareView, share_view
from satchel.features.scores.routes.scores import viewer_of
from satchel.features.scores.service import set_list_share
from satchel.features.scores.service.context import Scores
from satchel.kernel.errors import Forbidden, TooMany


def routes(scores: Scores) -> Router:
    router = Router("set lists")

    @router.get("/set-lists/{list_id}/shares", raises=(SetListUnknown, Forbidden))
    async def list_set_list_shares(member: Member, list_id: str) -> ScoreShareList:
        """List with whom you share a set list of yours."""
        shares = await set_list_share.list_shares(scores, viewer_of(member), list_id)
        return ScoreShareList([share_view(each) for each in shares])

    @router.put("/set-lists/{list_id}/shares/{email}", raises=(SetListUnknown, Forbidden, TooManySharers, TooMany))
    async def share_set_list(member: Member, list_id: str, email: EmailAddress) -> ScoreShareView:
        """Share a set list of yours with an e-mail address. It shows them those scores that they may read."""
        return share_view(await set_list_share.share_set_list(scores, viewer_of(member), list_id, email))

    @router.delete("/set-lists/{list_id}/shares/{email}", raises=(SetListUnknown, Forbidden))
    async def stop_sharing_set_list(member: Member, list_id: str, email: EmailAddress) -> None:
        """Stop sharing a set list of yours with an address."""
        await set_list_share.stop_share(scores, viewer_of(member), list_id, email)

    @router.delete("/set-lists/{list_id}/membership", raises=(SetListUnknown,))
    async def leave_set_list(member: Member, list_id: str) -> None:
        """Leave a set list that somebody shares with you."""
        await set_list_share.leave_set_list(scores, viewer_of(member), list_id)

    return router
