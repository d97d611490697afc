"""Reserve what unfinished uploads will take once they are whole, so that many at once cannot pass a quota one by one.

Each has a holder: a member, or the network of somebody who has no account. A holder has so many unfinished uploads at a
place and no more. What those without an account have announced and not sent keeps no member out.

A store in memory forgets this when it starts anew; what arrives then still meets the quota when it is whole.
"""

import hashlib
from collections import Counter

from satchel.edge.http.callers import Caller, Member
from satchel.edge.uploads.context import LASTS_AT_MOST
from satchel.edge.uploads.records import RESERVED
from satchel.edge.uploads.refusals import TooManyUploads
from satchel.stores.patterns.throttle import networks_of
from satchel.stores.ports.ephemeral import Ephemeral, Expire, HashAll, HashDelete, HashPut

MOST_OF_MEMBER = 2000
MOST_OF_NETWORK = 200
# Of all who have no account: many networks may come to one link.
MOST_OF_NETWORKS = 2000

_MEMBER = "member "


def holder_of(caller: Caller, address: str) -> str:
    """Whose share an upload takes. Anybody can be any number of guests, but not of networks."""
    return f"{_MEMBER}{caller.user_id}" if isinstance(caller, Member) else f"network {networks_of(address)[-1][0]}"


async def reserve(ephemeral: Ephemeral, place: str, upload_id: str, size_bytes: int, holder: str) -> int:
    """Count an upload that is about to begin; answers how many bytes are reserved at this place for others.

    Raises `TooManyUploads`, and counts nothing, if its holder has too many there.
    """
    key = _key(place)
    _, _, reserved = await ephemeral.together(
        HashPut(key, {upload_id: f"{size_bytes} {holder}".encode()}), Expire(key, LASTS_AT_MOST), HashAll(key)
    )
    numbers, sizes = Counter[str](), Counter[bool]()
    for written in reserved.values():
        size, _, who = written.decode().partition(" ")
        numbers[who] += 1
        sizes[who.startswith(_MEMBER)] += int(size)
    is_member = holder.startswith(_MEMBER)
    of_networks = sum(number for who, number in numbers.items() if not who.startswith(_MEMBER))
    most = MOST_OF_MEMBER if is_member else MOST_OF_NETWORK
    if numbers[holder] > most or (not is_member and of_networks > MOST_OF_NETWORKS):
        await release(ephemeral, place, upload_id)
        raise TooManyUploads(f"There are {most} unfinished uploads here already. Finish or cancel some.", limit=most)
    others = sizes[True] if is_member else sizes.total()
    return others - size_bytes


async def release(ephemeral: Ephemeral, place: str, upload_id: str) -> None:
    """The upload has become something, which counts for itself, or nothing."""
    await ephemeral.run(HashDelete(_key(place), upload_id))


def _key(place: str) -> str:
    # Clients have a say in what a place is called, and a key has its limits.
    return RESERVED(place=hashlib.blake2b(place.encode(), digest_size=16).hexdigest())
