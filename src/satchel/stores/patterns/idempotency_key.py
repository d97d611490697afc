"""Do a request once that its client has to repeat because the answer was lost: an idempotency key names what it made.

The client chooses the key. It is claimed for the id of what is about to be made, before that is made. Who comes with
the same key later finds that id. A key ends by itself, so a claim whose server died does not stand for ever.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.kernel.errors import Invalid
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Expire, Get, Put

# What a client may choose, as a regular expression.
KEY_PATTERN = "[A-Za-z0-9_-]{1,100}"
# How long a client can be away and still repeat its request.
REPEATED_WITHIN = timedelta(days=7)
# Stands behind the id of what was made for certain: if it is not there, it was deleted.
_MADE = "+"


class KeyReused(Invalid):
    """The idempotency key came with another request before. Use a new key for each request."""

    slug = "key-reused"
    title = "This key was used for another request"


def key_reused() -> KeyReused:
    return KeyReused("This idempotency key was used for another request. Use a new key.")


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a key stands for: the id of what is made, the digest of what was asked for, and whether all is there."""

    made_id: str
    order: str
    done: bool = False

    def check(self, order: str) -> None:
        if self.order != order:
            raise key_reused()

    @property
    def finished(self) -> "Claim":
        return msgspec.structs.replace(self, done=True)


encode_claim = msgspec.json.Encoder().encode
decode_claim = msgspec.json.Decoder(Claim).decode


def order_of(*asked: object) -> str:
    """The digest of what a request asks for. Nothing secret belongs into it: a plain digest could be guessed."""
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A client's key: `place` is the key of the ephemeral store at which the id of what it made stands."""

    ephemeral: Ephemeral
    place: str

    async def find(self) -> str | None:
        """What the key stands for."""
        found = await self.ephemeral.run(Get(self.place))
        return None if found is None else found.decode()

    async def claim(self, made_id: str, ttl: timedelta = REPEATED_WITHIN) -> str | None:
        """Let the key stand for this id, unless it stands for another: then that one is answered, and nothing done."""
        while not await self.ephemeral.run(Put(self.place, made_id.encode(), ttl=ttl, only_if_absent=True)):
            if (earlier := await self.find()) is not None:
                return earlier
        return None

    async def reserve(self, new_id: str) -> str:
        """The id to make something with: this one, or the one of an earlier attempt."""
        return (await self.claim(new_id) or new_id).removesuffix(_MADE)

    async def made(self) -> str | None:
        """The id of what was made for certain. A retry must not make it again, also if it was deleted since."""
        found = await self.find() or ""
        return found.removesuffix(_MADE) if found.endswith(_MADE) else None

    async def confirm(self, made_id: str) -> None:
        """Say that it was made for certain."""
        await self.settle(f"{made_id}{_MADE}")

    async def settle(self, made_id: str) -> None:
        """Let the key stand for this id from now on, whatever it stood for."""
        await self.ephemeral.run(Put(self.place, made_id.encode(), ttl=REPEATED_WITHIN))

    async def expire(self, ttl: timedelta) -> None:
        """Free the key soon, because nothing may come of what it stands for."""
        await self.ephemeral.run(Expire(self.place, ttl))

    async def release(self) -> None:
        """Free the key: what it was claimed for has been refused, and may be asked for in another way."""
        await self.ephemeral.run(Delete(self.place))


async def claim_all(ephemeral: Ephemeral, made_ids: Mapping[str, str]) -> dict[str, str]:
    """Claim many places in one step, each for its id; what each stands for now, which may be an earlier id."""
    if not made_ids:
        return {}
    claimed = await ephemeral.together(
        *(Put(place, made_id.encode(), ttl=REPEATED_WITHIN, only_if_absent=True) for place, made_id in made_ids.items())
    )
    repeated = [place for place, is_new in zip(made_ids, claimed, strict=True) if not is_new]
    earlier = await ephemeral.together(*map(Get, repeated)) if repeated else ()
    found = {place: made.decode() for place, made in zip(repeated, earlier, strict=True) if made is not None}
    return {**made_ids, **found}


async def release_all(ephemeral: Ephemeral, places: Collection[str]) -> None:
    if places:
        await ephemeral.together(*map(Delete, places))


async def settle_all(ephemeral: Ephemeral, made_ids: Mapping[str, str]) -> None:
    """Let each place stand for its id from now on, whatever it stood for."""
    if made_ids:
        await ephemeral.together(
            *(Put(place, made_id.encode(), ttl=REPEATED_WITHIN) for place, made_id in made_ids.items())
        )
