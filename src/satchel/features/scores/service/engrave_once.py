"""Music is engraved once for all who ask for it at a time, and what was refused is not tried again for an hour.

So strangers who ask again and again, for a file that takes long or is broken, cost no more than one attempt.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec

from satchel.features.scores.records import SCORE_REFUSED
from satchel.features.scores.service.context import Scores
from satchel.media.score_pages import PagesRefused, refusal_of
from satchel.stores.ports.ephemeral import Get, Put

# A loaded machine may have been too slow for it.
REFUSED_FOR = timedelta(hours=1)


async def engrave_once(scores: Scores, key: str, work: Callable[[], Awaitable[bytes]]) -> bytes:
    """What `work` makes for the object at `key`. Raises `PagesRefused`, as often as somebody asks."""
    refused = SCORE_REFUSED(key=key)
    if (known := await scores.ephemeral.run(Get(refused))) is not None:
        slug, reason = msgspec.json.decode(known, type=tuple[str, str])
        raise refusal_of(slug, reason)
    running = scores.engraving.get(key)
    if running is None:
        running = asyncio.ensure_future(_attempt(scores, refused, work))
        scores.engraving[key] = running
        running.add_done_callback(lambda done: _forget(scores, key, done))
    # Who goes away does not take it from the others.
    return await asyncio.shield(running)


async def _attempt(scores: Scores, refused: str, work: Callable[[], Awaitable[bytes]]) -> bytes:
    try:
        return await work()
    except PagesRefused as refusal:
        told = msgspec.json.encode((refusal.slug, refusal.detail))
        await scores.ephemeral.run(Put(refused, told, ttl=REFUSED_FOR))
        raise


def _forget(scores: Scores, key: str, done: "asyncio.Future[bytes]") -> None:
    del scores.engraving[key]
    if not done.cancelled():
        # Nobody may have waited until the end.
        done.exception()
