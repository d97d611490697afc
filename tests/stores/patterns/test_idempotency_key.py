"""An idempotency key stands for what was made with it, for as long as somebody may repeat the request."""

import asyncio
import re
from datetime import timedelta

import pytest

from satchel.stores.patterns.idempotency_key import (
    KEY_PATTERN,
    REPEATED_WITHIN,
    IdempotencyKey,
    claim_all,
    release_all,
)
from satchel.stores.ports.ephemeral import Ephemeral, Get, TimeToLive
from tests.stores.harnesses_ephemeral import EphemeralHarness

pytest_plugins = ("tests.stores.fixtures_ephemeral",)


async def test_the_first_to_claim_a_key_has_it_and_others_learn_what_it_stands_for(ephemeral: Ephemeral) -> None:
    key = IdempotencyKey(ephemeral, "begun:ann:k")
    assert await key.find() is None
    assert await key.claim("first") is None
    assert await key.claim("second") == "first"
    assert await key.find() == "first"
    assert await ephemeral.run(Get("begun:ann:k")) == b"first"


async def test_of_many_who_claim_at_once_one_has_it(ephemeral: Ephemeral) -> None:
    key = IdempotencyKey(ephemeral, "begun:ann:k")
    claims = await asyncio.gather(*(key.claim(str(number)) for number in range(20)))
    (winner,) = (number for number, earlier in enumerate(claims) if earlier is None)
    assert {earlier for earlier in claims if earlier is not None} == {str(winner)}


async def test_a_claim_ends_with_its_time_and_what_is_settled_stays(
    ephemeral: Ephemeral, ephemeral_harness: EphemeralHarness
) -> None:
    key = IdempotencyKey(ephemeral, "begun:ann:k")
    await key.claim("first", timedelta(seconds=0.05))
    await ephemeral_harness.advance(0.05)
    assert await key.claim("second", timedelta(seconds=0.05)) is None
    await key.settle("second")
    await ephemeral_harness.advance(0.05)
    assert await key.find() == "second"
    left = await ephemeral.run(TimeToLive("begun:ann:k"))
    assert left is not None and REPEATED_WITHIN - timedelta(minutes=1) < left <= REPEATED_WITHIN


async def test_a_key_can_be_freed_at_once_or_soon(ephemeral: Ephemeral, ephemeral_harness: EphemeralHarness) -> None:
    key = IdempotencyKey(ephemeral, "begun:ann:k")
    await key.claim("first")
    await key.release()
    assert await key.claim("second") is None
    await key.expire(timedelta(seconds=0.05))
    assert await key.find() == "second"
    await ephemeral_harness.advance(0.05)
    assert await key.find() is None


async def test_a_claim_that_ends_between_two_looks_is_claimed_anew(ephemeral: Ephemeral) -> None:
    """Somebody has the key when we ask for it, and it is free when we look whose it is."""

    class Fleeting(IdempotencyKey):
        async def find(self) -> str | None:
            await self.release()
            return await super().find()

    await IdempotencyKey(ephemeral, "begun:ann:k").claim("first")
    assert await Fleeting(ephemeral, "begun:ann:k").claim("second") is None
    assert await ephemeral.run(Get("begun:ann:k")) == b"second"


async def test_many_keys_are_claimed_in_one_step(ephemeral: Ephemeral) -> None:
    await IdempotencyKey(ephemeral, "begun:b").claim("earlier")
    assert await claim_all(ephemeral, {"begun:a": "1", "begun:b": "2"}) == {"begun:a": "1", "begun:b": "earlier"}
    await release_all(ephemeral, ["begun:a", "begun:b"])
    assert await ephemeral.together(Get("begun:a"), Get("begun:b")) == (None, None)
    assert await claim_all(ephemeral, {}) == {}
    await release_all(ephemeral, [])


@pytest.mark.parametrize(
    ("key", "fits"), [("a-Z_9", True), ("x" * 100, True), ("x" * 101, False), ("", False), ("a:b", False)]
)
def test_a_key_is_what_cannot_bend_the_place_where_it_is_stored(key: str, fits: bool) -> None:
    assert (re.fullmatch(KEY_PATTERN, key) is not None) == fits
