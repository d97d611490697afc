"""Hashes that verify, and the one that never does."""

import asyncio
import subprocess
import sys
import threading

import pytest
from argon2 import Parameters, extract_parameters

from satchel.features.accounts.service.hash_queue import HashQueue
from satchel.features.accounts.service.passwords import STANDARD, Passwords
from satchel.kernel.errors import Unavailable
from tests.services import python_environment

HERE = "192.0.2.1"


def test_a_server_hashes_at_the_recommended_cost() -> None:
    module = Passwords.__module__
    program = f"from {module} import STANDARD, Passwords; print(Passwords.cost is STANDARD)"
    done = subprocess.run([sys.executable, "-c", program], env=python_environment(), capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


async def test_the_standard_is_two_passes_of_argon2id_over_19_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Passwords, "cost", STANDARD)
    made = extract_parameters(await Passwords().hash("x", HERE))
    assert (made.type.name, made.time_cost, made.memory_cost, made.parallelism) == ("ID", 2, 19 * 1024, 1)


async def test_a_hash_of_another_cost_is_outdated_and_still_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = await Passwords().hash("correct horse", HERE)
    monkeypatch.setattr(Passwords, "cost", STANDARD)
    assert Passwords().is_outdated(stored)
    assert await Passwords().matches(stored, "correct horse", HERE)


async def test_a_password_matches_its_own_hash_and_no_other() -> None:
    passwords = Passwords()
    stored = await passwords.hash("correct horse", HERE)
    assert await passwords.matches(stored, "correct horse", HERE)
    assert not await passwords.matches(stored, "correct horsE", HERE)
    assert not await passwords.matches("not a hash", "correct horse", HERE)
    assert not passwords.is_outdated(stored)


async def test_checking_without_an_account_costs_what_a_real_check_costs() -> None:
    passwords = Passwords()
    stored: Parameters = extract_parameters(await passwords.hash("x", HERE))
    assert extract_parameters(passwords._nobody) == stored
    assert not await passwords.matches(None, "x", HERE)


async def test_more_people_than_the_machine_can_bear_are_asked_to_wait() -> None:
    passwords, at_once = Passwords(1), 1
    answers = await asyncio.gather(*(passwords.hash("x", HERE) for _ in range(at_once + 66)), return_exceptions=True)
    refused = [each for each in answers if isinstance(each, Unavailable)]
    assert len(refused) == 2
    assert "Try again" in str(refused[0])


class Work:
    """Work that lasts until it is let go, and what was done so far, in order."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.done: list[str] = []

    def do(self, what: str) -> None:
        self.let_go.wait(60)
        self.done.append(what)


async def test_networks_take_turns_however_many_one_of_them_sends() -> None:
    queue, work = HashQueue(1, 64), Work()
    flood = [asyncio.create_task(queue.run("flood", work.do, f"flood {number}")) for number in range(40)]
    await asyncio.sleep(0)
    person = asyncio.create_task(queue.run("home", work.do, "home"))
    await asyncio.sleep(0)
    work.let_go.set()
    await asyncio.gather(person, *flood)
    # One was running, and one was next.
    assert work.done.index("home") <= 2


async def test_of_a_full_queue_the_longest_line_is_refused() -> None:
    queue, work = HashQueue(1, 10), Work()
    flood = [asyncio.create_task(queue.run("flood", work.do, "flood")) for _ in range(11)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await queue.run("flood", work.do, "one more")
    people = [asyncio.create_task(queue.run(f"home {number}", work.do, "home")) for number in range(5)]
    await asyncio.sleep(0)
    work.let_go.set()
    await asyncio.gather(*people)
    told = await asyncio.gather(*flood, return_exceptions=True)
    assert [isinstance(each, Unavailable) for each in told] == [False] * 6 + [True] * 5


async def test_who_gives_up_waiting_leaves_their_turn_to_the_next() -> None:
    queue, work = HashQueue(1, 10), Work()
    running = asyncio.create_task(queue.run("one", work.do, "running"))
    await asyncio.sleep(0)
    gone = [asyncio.create_task(queue.run("two", work.do, "gone")) for _ in range(2)]
    left = asyncio.create_task(queue.run("two", work.do, "left"))
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    work.let_go.set()
    await asyncio.gather(running, left)
    assert work.done == ["running", "left"]
    await queue.run("three", work.do, "after")
