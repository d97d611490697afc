"""A fresh Satchel for every test of a slice.

Ann and Bob have signed up before, once for all tests: keeping a password takes longer than most of these.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
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


class EmptyObjects:
    """The folder of the folder store, handed from one test to the next.

    To make its hundreds of folders, and remove them, takes longer than a server takes to start.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys = (folder / "keys.db").read_bytes()
        self._times = self._shards(folder)

    @contextmanager
    def lent_to(self, data: Path) -> Generator[None]:
        lent = self._folder.rename(data / "objects")
        yield
        for shard, changed_at in self._shards(lent).items():
            if changed_at != self._times[shard]:
                for file in (lent / shard).iterdir():
                    file.unlink()
                self._times[shard] = (lent / shard).stat().st_mtime_ns
        for folder in ("drafts", "uploads"):
            shutil.rmtree(lent / folder)
            (lent / folder).mkdir()
        for left in lent.glob("keys.db*"):
            left.unlink()
        (lent / "keys.db").write_bytes(self._keys)
        lent.rename(self._folder)

    def _shards(self, folder: Path) -> dict[str, int]:
        """When each of its folders has changed."""
        parents = ("objects", "shared")
        shards = ((parent, shard) for parent in parents for shard in os.scandir(folder / parent))
        return {f"{parent}/{shard.name}": shard.stat().st_mtime_ns for parent, shard in shards}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def beginnings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Beginning]:
    """By who was the last to sign up."""
    folder, told = tmp_path_factory.mktemp("beginnings"), dict[str, Caller]()
    found: dict[str, Beginning] = {}
    for name in ("", *NAMES):
        async with running_satchel(folder / "data", sign_up="open") as running:
            if name:
                told[name] = running.caller()
                assert (await told[name].sign_up(f"{name}@example.org")).status_code == 201
        found[name] = Beginning(folder / (name or "nobody"), told)
        found[name].kept.mkdir()
        for file in ("satchel.db", "secret"):
            shutil.copy2(folder / "data" / file, found[name].kept)
    return found


@pytest.fixture(scope="session")
def empty_objects(beginnings: dict[str, Beginning]) -> EmptyObjects:
    return EmptyObjects(beginnings[""].kept.parent / "data" / "objects")


@pytest.fixture
async def satchel(
    request: pytest.FixtureRequest, tmp_path: Path, beginnings: dict[str, Beginning], empty_objects: EmptyObjects
) -> AsyncGenerator[Satchel]:
    """In which those people have accounts whom the test asks for."""
    last = next((name for name in reversed(NAMES) if name in request.fixturenames), "")
    shutil.copytree(beginnings[last].kept, tmp_path, dirs_exist_ok=True)
    with empty_objects.lent_to(tmp_path):
        async with running_satchel(tmp_path, sign_up="open") as running:
            yield running


@pytest.fixture
def ann(satchel: Satchel, beginnings: dict[str, Beginning]) -> Caller:
    """The first to sign up, and so the administrator."""
    return beginnings["ann"].caller(satchel, "ann")


@pytest.fixture
def bob(satchel: Satchel, ann: Caller, beginnings: dict[str, Beginning]) -> Caller:
    """Somebody with an account."""
    return beginnings["bob"].caller(satchel, "bob")
