"""Who looks at a score right now, and what they are told. Who is not heard of for a while is not there any more."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Literal

import msgspec

from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.model import Email, OwnerId
from satchel.features.scores.records import SCORE_HERE
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import Found, Viewer, role_of
from satchel.features.scores.service.visitor_news import visitor_news
from satchel.kernel.errors import Unavailable
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Expire, HashAll, HashDelete, HashPut

BELIEVED_FOR = timedelta(seconds=75)


class Onlooker(msgspec.Struct, frozen=True, array_like=True):
    """Somebody who looks at a score. Without a page they look at all of it."""

    user_id: OwnerId
    email: Email
    page_id: int | None
    until: float


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Onlooker).decode


async def arrive(scores: Scores, found: Found, viewer: Viewer, page_id: int | None) -> list[Onlooker]:
    """Say that somebody looks at a page, and who else does."""
    until = scores.clock() + BELIEVED_FOR.total_seconds()
    key = SCORE_HERE(score_id=found.score_id)
    mine = Onlooker(viewer.user_id, viewer.email, page_id, until)
    *_, everybody = await scores.ephemeral.together(
        HashPut(key, {viewer.user_id: _pack(mine)}), Expire(key, BELIEVED_FOR), HashAll(key)
    )
    return _present(scores, found, everybody)


async def leave(scores: Scores, found: Found, viewer: Viewer) -> None:
    await scores.ephemeral.run(HashDelete(SCORE_HERE(score_id=found.score_id), viewer.user_id))


async def tell_onlookers(
    scores: Scores,
    found: Found,
    event: LiveEvent,
    may_hear: Callable[[Viewer], bool] = lambda _: True,
    *,
    also: Sequence[OwnerId] = (),
    visitors: Literal["none", "all"] | LayerRow = "none",
) -> None:
    """Tell those who look at a score, and still may; and others, wherever they look.

    Visitors of links hear what concerns all, and what concerns a layer if it is published and for them.
    """
    # An event is a hint. What it is about has happened, whether or not somebody hears of it.
    with suppress(Unavailable):
        everybody = await scores.ephemeral.run(HashAll(SCORE_HERE(score_id=found.score_id)))
        present = _present(scores, found, everybody)
        heard = [each.user_id for each in present if may_hear(Viewer(each.user_id, each.email))]
        commands = tell({*heard, *also}, event)
        if visitors == "all":
            commands.append(visitor_news(found, event))
        elif visitors != "none" and visitors.is_published:
            commands.append(visitor_news(found, event, part_id=visitors.part_id))
        if commands:
            await scores.ephemeral.together(*commands)


def _present(scores: Scores, found: Found, everybody: dict[str, bytes]) -> list[Onlooker]:
    now = scores.clock()
    onlookers = map(_unpack, everybody.values())
    return [
        each
        for each in onlookers
        if each.until > now and role_of(Viewer(each.user_id, each.email), found.row, found.people) is not None
    ]
