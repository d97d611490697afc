"""The way on for whoever is where others have guessed too often: a small proof of work, and turns one after the other.

A guesser gets few guesses in it, however much they work. Somebody beside them, who knows the secret, waits seconds.
"""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from satchel.kernel.clock import Clock
from satchel.kernel.errors import TooMany
from satchel.kernel.signature import BadSignature, Signer
from satchel.stores.patterns.throttle import GuessThrottle
from satchel.stores.ports.ephemeral import Ephemeral, Put, TimeToLive
from satchel.stores.schema import EphemeralKey

# About a second in a browser.
BITS = 17
# In each lane somebody may guess so often.
EVERY = timedelta(seconds=5)
# For so long a challenge can be answered.
LASTS = timedelta(minutes=1)
_PURPOSE = "guess-lane"


def _key(pattern: str, about: str) -> EphemeralKey:
    return EphemeralKey(pattern, "value", owner="throttle", about=about, essential=True)


TURN = _key("lane:{lane}", "That somebody has just guessed in this lane")
SPENT = _key("lane-spent:{challenge}", "That a proof of work was used; ends soon")
EPHEMERAL_KEYS = (TURN, SPENT)


class WorkNeeded(TooMany):
    """Others at your address have guessed too often. Find a number for which SHA-256 of `challenge`, a dot and the
    number, in decimal digits, begins with as many zero bits as `bits` says. Wait `Retry-After` seconds, then send the
    request once more, with the challenge, the dot and the number in the header `Satchel-Work`.
    """

    slug = "work-needed"
    title = "Others have guessed too often"


class _Claim(msgspec.Struct, frozen=True, array_like=True):
    lane: bytes
    until: int
    nonce: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessLane:
    """Lanes of one kind of secret: of each thing and network one, and of a thing that many guess at one for all."""

    guesses: GuessThrottle
    ephemeral: Ephemeral
    signer: Signer
    clock: Clock

    async def is_right(self, thing: str, address: str, work: str, compare: Callable[[], Awaitable[bool]]) -> bool:
        """Compare a guess, and count a wrong one. `WorkNeeded` if its network has no guesses left and no turn."""
        in_lane = await _is_refused(self.guesses.check(thing, address))
        if in_lane:
            await self._take_turn(thing, address, work)
        right = await compare()
        # Of many that are tried at once, none gets an answer when too many were wrong, be it right or wrong.
        counted = self.guesses.check(thing, address) if right else self.guesses.count(thing, address)
        if await _is_refused(counted) and not in_lane:
            raise self._needed(await self.guesses.share_of(thing, address))
        return right

    async def _take_turn(self, thing: str, address: str, work: str) -> None:
        lane = await self.guesses.share_of(thing, address)
        challenge = self._solved(lane, work)
        spent = SPENT(challenge=challenge)
        if not challenge or not await self.ephemeral.run(Put(spent, b"", only_if_absent=True, ttl=LASTS)):
            raise self._needed(lane)
        turn = TURN(lane=_digest(lane).hex())
        is_ours, left = await self.ephemeral.together(Put(turn, b"", only_if_absent=True, ttl=EVERY), TimeToLive(turn))
        if not is_ours:
            raise self._needed(lane, left or EVERY)

    def _needed(self, lane: str, wait: timedelta = timedelta(seconds=1)) -> WorkNeeded:
        until = int(self.clock() + LASTS.total_seconds())
        claim = _Claim(_digest(lane), until, secrets.token_bytes(12))
        seconds = max(1, -(-wait // timedelta(seconds=1)))
        return WorkNeeded(
            "Others at your address have guessed too often. Programs of Satchel get in after some seconds.",
            retry_after=seconds,
            challenge=self.signer.sign(_PURPOSE, msgspec.msgpack.encode(claim)),
            bits=BITS,
        )

    def _solved(self, lane: str, work: str) -> str:
        """What tells the challenge apart that this work solves; empty if it solves none of this lane."""
        challenge, _, _ = work.rpartition(".")
        if int.from_bytes(hashlib.sha256(work.encode()).digest()[:8]) >> 64 - BITS:
            return ""
        try:
            claim = msgspec.msgpack.decode(self.signer.open(_PURPOSE, challenge), type=_Claim)
        except (BadSignature, msgspec.DecodeError):
            return ""
        is_valid = claim.lane == _digest(lane) and claim.until > self.clock()
        return claim.nonce.hex() if is_valid else ""


async def _is_refused(counted: Awaitable[Any]) -> bool:
    try:
        await counted
    except TooMany:
        return True
    return False


def _digest(lane: str) -> bytes:
    return hashlib.blake2b(lane.encode(), digest_size=12).digest()
