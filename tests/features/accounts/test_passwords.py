"""Hashes that verify, and the one that never does."""

import asyncio
import subprocess
import sys

import pytest
from argon2 import Parameters, extract_parameters

from satchel.features.accounts.service.passwords import STANDARD, Passwords
from satchel.kernel.errors import Unavailable
from tests.services import python_environment


def test_a_server_hashes_at_the_recommended_cost() -> None:
    module = Passwords.__module__
    program = f"from {module} import STANDARD, Passwords; print(Passwords.hasher is STANDARD)"
    done = subprocess.run([sys.executable, "-c", program], env=python_environment(), capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
    assert (STANDARD.time_cost, STANDARD.memory_cost, STANDARD.parallelism) == (2, 19 * 1024, 1)
    assert extract_parameters(STANDARD.hash("x")).type.name == "ID"


async def test_a_hash_of_another_cost_is_outdated_and_still_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = await Passwords().hash("correct horse")
    monkeypatch.setattr(Passwords, "hasher", STANDARD)
    assert Passwords().is_outdated(stored)
    assert await Passwords().matches(stored, "correct horse")


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
