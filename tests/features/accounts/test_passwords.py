"""Hashes that verify, and the one that never does."""

import asyncio

from argon2 import Parameters, extract_parameters

from satchel.features.accounts.service.passwords import Passwords
from satchel.kernel.errors import Unavailable


async def test_a_password_matches_its_own_hash_and_no_other() -> None:
    passwords = Passwords()
    stored = await passwords.hash("correct horse")
    assert await passwords.matches(stored, "correct horse")
    assert not await passwords.matches(stored, "correct horsE")
    assert not await passwords.matches("not a hash", "correct horse")
    assert not passwords.is_outdated(stored)


async def test_checking_without_an_account_costs_what_a_real_check_costs() -> None:
    passwords = Passwords()
    stored: Parameters = extract_parameters(await passwords.hash("x"))
    assert extract_parameters(passwords._nobody) == stored
    assert not await passwords.matches(None, "x")


async def test_more_people_than_the_machine_can_bear_are_asked_to_wait() -> None:
    passwords = Passwords()
    answers = await asyncio.gather(*(passwords.hash("x") for _ in range(66)), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, Unavailable)]
    assert len(refused) == 2
    assert "Try again" in str(refused[0])
