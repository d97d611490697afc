"""A server that is killed at a chosen step of what it does, and a look at what is left after it was started again.

A scene is prepared once. Then a copy of its data folder is played in a process of its own, on the real application,
which kills itself at the n-th call by which the scene writes to a store; for n = 1, 2, 3, … until it comes through
alive.
"""

import asyncio
import inspect
import multiprocessing
import os
import re
import shutil
import signal
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from satchel.chores import LAST_SWEEP
from satchel.features.rooms.records import ENDED, ENDING, REPAIRED, REPAIRS
from satchel.kernel.clock import ManualClock
from satchel.slices import DURABLE_KEYS
from satchel.stores.connect import Stores
from satchel.stores.embedded.documents import decode
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.memory_entries import NEVER, Content
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.ephemeral import (
    Ephemeral,
    Exists,
    Get,
    HashAll,
    HashGet,
    ListRange,
    ListSize,
    Publish,
    SetAll,
    SetHas,
    SetSize,
    TimeToLive,
)
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables
from satchel.tables import CLICKS
from tests.application import Caller, Satchel, running_satchel

# "during" kills in the middle of those calls that may be done by half. To die before a call is to die after the one
# before it.
Moment: TypeAlias = Literal["during", "after"]
# Everything that is stored, at the end of each pause.
States: TypeAlias = list[Counter[str]]

# So that a scene which never ends is a failure and not a long night.
MOST_STEPS = 200
PATIENCE_SECONDS = 120
ROUNDS = 3

_processes = multiprocessing.get_context("forkserver")
# Loaded once, so that a process costs milliseconds.
_processes.set_forkserver_preload([f"tests.faults.test_{name}_killed" for name in ("shelf", "rooms", "transfers")])
_READS = (Get, Exists, TimeToLive, HashGet, HashAll, SetHas, SetAll, SetSize, ListRange, ListSize, Publish)
_is_watched: ContextVar[bool] = ContextVar("is_watched", default=False)


@dataclass
class World:
    """A running server, those who call it, and what they know."""

    satchel: Satchel
    callers: dict[str, Caller]
    known: dict[str, str]
    diary: Path
    # After so many answers the one who asks is content; the server is killed then.
    content_with: int | None = None

    def __getitem__(self, name: str) -> Caller:
        return self.callers[name]

    @property
    def answered(self) -> list[str]:
        """What clients have been told, over all lives of the server."""
        return self.diary.read_text().splitlines() if self.diary.exists() else []

    def acknowledge(self, what: str) -> None:
        """A client has its answer; a kill does not take that back."""
        with self.diary.open("a") as diary:
            diary.write(f"{what}\n")
        if len(self.answered) == self.content_with:
            _die()

    async def keep_house(self, after: timedelta, between: timedelta) -> None:
        """Let time pass and everything be swept that the sweeps can reach."""
        self.satchel.clock.advance(after)
        for _ in range(ROUNDS):
            await self.satchel.housekeep()
            self.satchel.clock.advance(between)


class Scene(ABC):
    """Something that people ask for, or that the server does by itself."""

    # When to look, one after the other. After the first of these what nobody goes on with is over; after the second the
    # bin, too, and what the store itself keeps.
    pauses: Sequence[timedelta] = (timedelta(days=9), timedelta(days=32))
    # How much time passes from one round of keeping house to the next.
    between_rounds = timedelta(hours=1)
    # How much time passes in it.
    lasts = timedelta(seconds=1)
    # Whether one request may be found half done, if whoever sent it never comes back.
    can_be_half_done = False

    @abstractmethod
    async def prepare(self, world: World) -> None:
        """What is there before; whoever calls later signs up here."""

    @abstractmethod
    async def act(self, world: World) -> None:
        """What is cut off. It has to be what a client would do again, from the start, that has had no answer."""

    @abstractmethod
    async def check(self, world: World) -> None:
        """What has to hold once house was kept, whatever was cut off."""

    @property
    def name(self) -> str:
        return type(self).__name__


@dataclass
class Blade:
    """Kills the process at the n-th call by which the scene, and nobody else, writes to any of the stores.

    A kill after a call that only reads leaves what a kill after the write before it has left.
    """

    moment: Moment
    number: int
    calls: int = 0

    def through(self, stores: Stores) -> Stores:
        return Stores(
            cast("Tables", _Watched(stores.tables, self)),
            cast("Ephemeral", _Watched(stores.ephemeral, self)),
            cast("Objects", _Watched(stores.objects, self)),
            cast("BulkWrites", _Watched(stores.bulk, self)),
        )

    def falls(self, moment: Moment) -> bool:
        return _is_watched.get() and moment == self.moment and self.calls == self.number

    async def around(self, name: str, call: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        if not _is_watched.get() or _only_reads(name, given):
            return await call(*given, **named)
        half = _half_of(name, call, *given, **named)
        if self.moment != "during" or half is not None:
            self.calls += 1
        if half is not None and self.falls("during"):
            await half()
            _die()
        answer = await call(*given, **named)
        if self.falls("after"):
            _die()
        return answer


class _Watched:
    def __init__(self, store: Any, blade: Blade) -> None:
        self._store = store
        self._blade = blade

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return partial(self._blade.around, name, found) if inspect.iscoroutinefunction(found) else found


def _only_reads(name: str, given: Sequence[Any]) -> bool:
    if name in ("run", "together"):
        return all(isinstance(command, _READS) for command in given)
    return name in ("get", "get_many", "query", "shards", "changes", "head", "list", "parts")


def _half_of(
    name: str, call: Callable[..., Awaitable[Any]], *given: Any, **named: Any
) -> Callable[[], Awaitable[Any]] | None:
    """The first half of a call that the contract does not promise to be done as one."""
    if name == "delete" and len(given) > 1 and all(isinstance(each, str) for each in given):
        return partial(call, *given[: len(given) // 2])
    if name == "write_many":
        put, delete = list(named.get("put", ())), list(named.get("delete", ()))
        if len(put) + len(delete) > 1:
            return partial(call, *given, put=put[: (len(put) + 1) // 2], delete=delete[: len(delete) // 2])
    return None


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Stage:
    """A prepared scene, of which every run gets a copy."""

    scene: Scene
    folder: Path
    known: dict[str, str] = field(default_factory=dict[str, str])
    callers: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict[str, tuple[dict[str, Any], str]])
    now: float = 0.0

    def prepare(self) -> None:
        asyncio.run(self._prepare())

    def play(self, blade: Blade | None = None, content_with: int | None = None) -> "Run":
        """One life of the server."""
        data = self.folder / "played"
        _copy(self.folder / "prepared", data)
        run = Run(self, data)
        if content_with != 0:  # else nobody asks for anything
            process = _processes.Process(target=_perform, args=(self, data, blade, content_with))
            process.start()
            process.join(PATIENCE_SECONDS)
            assert process.exitcode in (0, -signal.SIGKILL), f"{self.scene.name}: {process.exitcode}"
            run.killed = process.exitcode != 0
            process.close()
        run.answered = diary.read_text().splitlines() if (diary := _diary_of(data)).exists() else []
        return run

    def cut_off(self, moment: Moment) -> Iterator["Run"]:
        """A run for each step at which it can be killed."""
        for number in range(1, MOST_STEPS):
            run = self.play(Blade(moment, number))
            if not run.killed:
                return
            yield run
        raise AssertionError("there are more steps than were tried")

    def world(self, satchel: Satchel, data: Path, content_with: int | None = None) -> World:
        callers = {name: satchel.caller() for name in self.callers}
        for name, (tokens, user_id) in self.callers.items():
            callers[name].tokens, callers[name].user_id = tokens, user_id
        return World(satchel, callers, dict(self.known), _diary_of(data), content_with)

    async def _prepare(self) -> None:
        data = self.folder / "prepared"
        async with running_satchel(data, sign_up="open") as satchel:
            world = self.world(satchel, data)
            await self.scene.prepare(world)
            self.known, self.now = world.known, satchel.clock()
            self.callers = {name: (caller.tokens, caller.user_id) for name, caller in world.callers.items()}


@dataclass
class Run:
    """What one life of the server has left; good until the next."""

    stage: Stage
    data: Path
    killed: bool = False
    answered: list[str] = field(default_factory=list[str])

    def end(self, *, comes_back: bool) -> States:
        """Start the server again, let whoever was cut off try again or not, keep house, check, and say what is left.

        It is done with a copy, so that a run can end in both ways.
        """
        data = self.data.with_name("ended")
        _copy(self.data, data)
        return asyncio.run(self._end(data, comes_back=comes_back))

    async def _end(self, data: Path, *, comes_back: bool) -> States:
        scene = self.stage.scene
        states: States = []
        clock = ManualClock(self.stage.now + 1 + scene.lasts.total_seconds())
        async with running_satchel(data, clock, sign_up="open") as satchel:
            await satchel.housekeep()
            world = self.stage.world(satchel, data)
            if comes_back:
                await scene.act(world)
            for pause in scene.pauses:
                await world.keep_house(pause, scene.between_rounds)
                await scene.check(world)
                states.append(await _state_of(satchel))
            assert await satchel.stores.objects.clean(timedelta(0)) == 0
        # Uploads may wait for somebody to go on with them, but not for ever.
        assert not [each for each in states[-1] if _is_upload(each)]
        return [Counter({each: n for each, n in state.items() if not _is_upload(each)}) for state in states]


def check_when_killed(scene: Scene, folder: Path, moment: Moment) -> None:
    """Whoever was cut off does it again, and all ends as if nothing had happened.

    Or nobody comes back: what was asked for last is done or not, all before it is, and nothing else is left.
    """
    stage = Stage(scene, folder)
    stage.prepare()
    whole = stage.play()
    wanted = whole.end(comes_back=False)
    endings = [stage.play(content_with=number).end(comes_back=False) for number in range(len(whole.answered) + 1)]
    for number, run in enumerate(stage.cut_off(moment), start=1):
        states = run.end(comes_back=True)
        killed = f"{scene.name}, killed {moment} {number}"
        assert states == wanted, f"{killed}, asked again: {_difference(states, wanted)}"
        possible = endings[len(run.answered) :][:2]
        states = run.end(comes_back=False)
        if not scene.can_be_half_done:
            assert states in possible, f"{killed}, given up: {[_difference(states, each) for each in possible]}"


def _diary_of(data: Path) -> Path:
    return data.with_suffix(".diary")


def _copy(source: Path, target: Path) -> None:
    """Make one data folder what another is, and its diary; the hundreds of folders that both have stay."""
    target.mkdir(exist_ok=True)
    (folders, files), (old_folders, old_files) = _inside(source), _inside(target)
    for name in old_files:
        (target / name).unlink()
    for name in sorted(old_folders - folders, reverse=True):
        (target / name).rmdir()
    for name in sorted(folders - old_folders):
        (target / name).mkdir()
        shutil.copymode(source / name, target / name)
    for name in files:
        shutil.copy2(source / name, target / name)
    _diary_of(target).unlink(missing_ok=True)
    if _diary_of(source).exists():
        shutil.copy2(_diary_of(source), _diary_of(target))


def _inside(folder: Path) -> tuple[set[str], set[str]]:
    """The folders and files in it, by where they are."""
    folders, files = set[str](), set[str]()
    for parent, inner, names in os.walk(folder):
        place = f"{parent}/"[len(str(folder)) + 1 :]
        folders.update(f"{place}{name}" for name in inner)
        files.update(f"{place}{name}" for name in names)
    return folders, files


def _difference(states: States, wanted: States) -> str:
    return "; ".join(
        f"in pause {number} too much: {list(state - other)}, too little: {list(other - state)}"
        for number, (state, other) in enumerate(zip(states, wanted, strict=True), start=1)
        if state != other
    )


def _perform(stage: Stage, data: Path, blade: Blade | None, content_with: int | None) -> None:
    asyncio.run(_play(stage, data, blade, content_with))


async def _play(stage: Stage, data: Path, blade: Blade | None, content_with: int | None) -> None:
    blade = blade or Blade("after", 0)
    async with running_satchel(data, ManualClock(stage.now + 1), blade.through, sign_up="open") as satchel:
        world = stage.world(satchel, data, content_with)
        _is_watched.set(True)
        await stage.scene.act(world)


# What differs from run to run: ids, moments, and the letters of a room.
_VARYING = re.compile(
    r"\b[0-9a-hjkmnp-tv-z]{26}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z|\b[12]\d{9}(\.\d+)?\b|\b[12]\d{12}\b"
    r"|(?<=roomCode:)[A-Z]{5}|(?<='code', b')[A-Z]{5}"
)


async def _state_of(satchel: Satchel) -> Counter[str]:
    """Everything that is stored, whatever it is, but for what differs from run to run."""
    found = [f"object {info.key} {info.size_bytes}" for info in (await satchel.stores.objects.list()).objects]
    found += _lasting_keys(cast("MemoryEphemeral", satchel.stores.ephemeral))
    found += _items(Path(satchel.settings.table_url.removeprefix("sqlite://")))
    return Counter(_VARYING.sub("*", each) for each in found)


def _is_upload(each: str) -> bool:
    return each.startswith("object uploads/") or "'UPLOAD#" in each


def _lasting_keys(ephemeral: MemoryEphemeral) -> Iterator[str]:
    """Those that do not end by themselves. When to look at a room is a hint, of which there may be more."""
    assert ephemeral._kept is not None
    for key, entry in ephemeral._kept.keys._entries.items():
        assert key.startswith(DURABLE_KEYS)
        is_hint = ENDING.matches(key) or REPAIRS.matches(key)
        if entry.ends == NEVER and key not in (LAST_SWEEP(), ENDED(), REPAIRED()) and not is_hint:
            yield f"key {key} {_in_order(entry.content)}"


def _in_order(content: Content) -> object:
    match content:
        case dict():
            return sorted(content.items())
        case set():
            return sorted(content)
        case _:
            return content


def _items(file: Path) -> Iterator[str]:
    with closing(sqlite3.connect(file)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%doc BLOB%'")
        # The use of something is counted after it, so a count may miss the one at which the server died.
        for table in (name for (name,) in tables.fetchall() if CLICKS.name not in name):
            for (document,) in connection.execute(f'SELECT doc FROM "{table}"').fetchall():
                yield f"item {table} {sorted(decode(document).items(), key=repr)}"
