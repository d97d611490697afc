"""A fresh Satchel for every test of a slice.

Ann and Bob have signed up before, once for all tests: keeping a password takes longer than most of these.
"""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.application import Caller, Satchel, running_satchel

NAMES = ("ann", "bob")


@dataclass(frozen=True)
class Beginning:
    """What a server has kept after somebody had signed up, and what it told those who had."""

    kept: Path
    told: dict[str, Caller]

    def caller(self, satchel: Satchel, name: str) -> Caller:
        known, caller = self.told[name], satchel.caller()
        caller.tokens, caller.session_id, caller.user_id = dict(known.tokens), known.session_id, known.user_id
        return caller


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def beginnings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Beginning]:
    """By who was the last to sign up."""
    folder, told = tmp_path_factory.mktemp("beginnings"), dict[str, Caller]()
    found: dict[str, Beginning] = {}
    for name in NAMES:
        async with running_satchel(folder / "data", sign_up="open") as running:
            told[name] = running.caller()
            assert (await told[name].sign_up(f"{name}@example.org")).status_code == 201
        found[name] = Beginning(folder / name, told)
        found[name].kept.mkdir()
        for file in ("satchel.db", "secret"):
            shutil.copy2(folder / "data" / file, found[name].kept)
    return found


@pytest.fixture
async def satchel(
    request: pytest.FixtureRequest, tmp_path: Path, beginnings: dict[str, Beginning]
) -> AsyncGenerator[Satchel]:
    """In which those people have accounts whom the test asks for."""
    asked_for = [name for name in NAMES if name in request.fixturenames]
    if asked_for:
        shutil.copytree(beginnings[asked_for[-1]].kept, tmp_path, dirs_exist_ok=True)
    async with running_satchel(tmp_path, sign_up="open") as running:
        await running.first_sweep()
        yield running
    remove_empty_folders(tmp_path / "objects")


def remove_empty_folders(objects: Path) -> None:
    """Hundreds, where the folder store would put objects; pytest takes longer for it than a server to start."""
    for parent in (objects / "objects", objects / "shared"):
        for entry in os.scandir(parent):
            with suppress(OSError):  # something is in it
                os.rmdir(entry.path)  # noqa: PTH106 -- a Path takes twice as long


@pytest.fixture
def ann(satchel: Satchel, beginnings: dict[str, Beginning]) -> Caller:
    """The first to sign up, and so the administrator."""
    return beginnings["ann"].caller(satchel, "ann")


@pytest.fixture
def bob(satchel: Satchel, ann: Caller, beginnings: dict[str, Beginning]) -> Caller:
    """Somebody with an account."""
    return beginnings["bob"].caller(satchel, "bob")
