"""Reserve what unfinished uploads will take once they are whole, so that many at once cannot pass a quota one by one.

A store in memory forgets this when it starts anew; what arrives then still meets the quota when it is whole.
"""

import hashlib

from satchel.edge.uploads.context import LASTS_AT_MOST
from satchel.edge.uploads.records import RESERVED
from satchel.stores.ports.ephemeral import Ephemeral, Expire, HashAll, HashDelete, HashPut


async def reserve(ephemeral: Ephemeral, place: str, upload_id: str, size_bytes: int) -> int:
    """Count an upload that is about to begin; answers how many bytes are reserved at this place for others."""
    key = _key(place)
    _, _, reserved = await ephemeral.together(
        HashPut(key, {upload_id: b"%d" % size_bytes}), Expire(key, LASTS_AT_MOST), HashAll(key)
    )
    return sum(map(int, reserved.values())) - size_bytes


async def release(ephemeral: Ephemeral, place: str, upload_id: str) -> None:
    """The upload has become something, which counts for itself, or nothing."""
    await ephemeral.run(HashDelete(_key(place), upload_id))


def _key(place: str) -> str:
    # Clients have a say in what a place is called, and a key has its limits.
    return RESERVED(place=hashlib.blake2b(place.encode(), digest_size=16).hexdigest())
