"""Breaks off downloads that are under way when their link is revoked, on whichever server they are."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from satchel.features.links.model import LinkRevoked
from satchel.features.links.records import LINK, LinkRow
from satchel.features.links.service.context import Links
from satchel.kernel.errors import Unavailable

# A download that is done before this costs nothing more.
LOOK_EVERY = timedelta(seconds=1)


@asynccontextmanager
async def while_standing(links: Links, link: LinkRow) -> AsyncGenerator[None]:
    """Raises `LinkRevoked` in the middle of the block, as soon as the link is revoked or gone."""
    limit = asyncio.timeout(None)
    watching: asyncio.Task[None] | None = None

    async def watch() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            if not await _stands(links, link):
                limit.reschedule(asyncio.get_running_loop().time())
                return

    try:
        async with limit:
            watching = asyncio.create_task(watch())
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise LinkRevoked("This link was revoked. Ask its owner for a new one.") from None
    finally:
        if watching is not None:
            watching.cancel()


async def _stands(links: Links, link: LinkRow) -> bool:
    try:
        current = await LINK.get(links.tables, token=link.token)
    except Unavailable:
        # A store that does not answer is no reason to break off what was allowed.
        return True
    return current is not None and not current.revoked_at
