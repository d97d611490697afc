"""Copy all that a server keeps from one set of stores to another, whatever kinds they are.

The first runs may be made while the source serves people; each copies what has changed since the last one. With
`finish`, after its servers have stopped, the copy is compared once more and made ready for servers of its own.

Where the source is on this machine, it is copied from a snapshot of its databases, as they were at one moment.
Unfinished uploads stay behind: they begin anew.
"""

import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import TypeAlias
from urllib.parse import urlsplit

from satchel.config import BadSetting, Settings
from satchel.features.clicks.service.counts import join_slots
from satchel.features.clicks.service.embedded.stored_counts import write_late_counts
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Conflict
from satchel.kernel.signature import MIN_SECRET_BYTES, Signer
from satchel.slices import DURABLE_KEYS, EPHEMERAL_KEYS
from satchel.stores.backups import CopyJournal, snapshot
from satchel.stores.connect import (
    Stores,
    bulk_of,
    open_ephemeral,
    open_objects,
    open_stores,
    open_tables,
    prepare_folder,
)
from satchel.stores.copies.ephemeral_copy import EphemeralCopy
from satchel.stores.copies.objects_copy import ObjectsCopy
from satchel.stores.copies.tables_copy import TablesCopy, scanning
from satchel.stores.ports.objects import ObjectInfo, Objects
from satchel.stores.ports.table import Item, Tables, TableSpec
from satchel.stores.server_lock import locked
from satchel.tables import CATALOG, SELF_TEST, TABLES, UNFINISHED_COPY, tables_for

# What says where a stream was read, and what the self-test writes, belongs to the stores it is in.
COPIED = tuple(table for table in TABLES if table.name not in ("StreamPositions", SELF_TEST.name))
_UPLOADS = ("UPLOAD#", "UPLOADER#")
_FOLDERS_LEFT_OUT = ("uploads/", "doctor/", "ready/")

# Told how many things and bytes were done.
Told: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CopyDone:
    """What a run has come to. The copy is `equal` if `different` names nothing."""

    items: int
    keys: int
    objects: int
    size_bytes: int
    different: list[str]
    finished: bool


async def copy_data(
    source: Settings, target: Settings, progress: Path, clock: Clock, told: Told, *, finish: bool = False
) -> CopyDone:
    """Copy what is new, and compare all of it; `progress` is a file that remembers what has been copied."""
    _check(source, target)
    with CopyJournal.opened(progress) as journal, ExitStack() as held:
        if finish and source.needs_data_folder:
            held.enter_context(_stopped(source))
        async with reading(source, clock) as here, _writing(target, clock) as there:
            await _check_empty(there, journal)
            journal.begin_run()
            run = _Run(here, there, journal, clock, told)
            done = await run.copy()
            if done.different or not finish:
                return done
            await _make_ready(target, there)
            carry_secret(source, target)
            return replace(done, finished=True)


async def make_whole(settings: Settings, clock: Clock) -> None:
    """What was restored from a backup of shared stores becomes the data of one server."""
    async with open_stores(settings, clock, any_signer(), durable_keys=DURABLE_KEYS) as stores:
        await stores.tables.create(*TABLES)
        if await stores.tables.get(SELF_TEST, UNFINISHED_COPY) is not None:
            await _make_ready(settings, stores)


class _Run:
    """One run over all three stores."""

    def __init__(self, source: Stores, target: Stores, journal: CopyJournal, clock: Clock, told: Told) -> None:
        self._items = 0
        self._told = told
        self._clock = clock
        self._journal = journal
        self._tables = TablesCopy(
            source.tables, target.tables, journal, is_left_out=is_left_out, told=self._count_items
        )
        self._objects = ObjectsCopy(
            source.objects,
            target.objects,
            journal,
            is_left_out=lambda key: key.startswith(_FOLDERS_LEFT_OUT),
            told=told,
        )
        self._ephemeral = EphemeralCopy(source.ephemeral, target.ephemeral, EPHEMERAL_KEYS)

    async def copy(self) -> CopyDone:
        # What the tables speak of is there until it is copied, unless somebody deletes it meanwhile.
        for table in COPIED:
            await self._tables.copy(table)
            await self._tables.forget_gone(table)
        keys = await self._ephemeral.copy()
        await self._objects.copy()
        different = [f"object {key}" for key in await self._objects.check()]
        now = self._clock()
        different += [f"table {table.name}" for table in COPIED if not await self._tables.are_equal(table, now)]
        if not await self._ephemeral.are_equal():
            different.append("short-lived state")
        objects, size_bytes = self._journal.totals()
        return CopyDone(self._items, keys, objects, size_bytes, different, finished=False)

    def _count_items(self, count: int) -> None:
        self._items += count
        self._told(count, 0)


def is_left_out(table: TableSpec, item: Item) -> bool:
    return table.name == CATALOG.name and str(item["PK"]).startswith(_UPLOADS)


@asynccontextmanager
async def reading(source: Settings, clock: Clock) -> AsyncGenerator[Stores]:
    async with AsyncExitStack() as opened:
        still = opened.enter_context(_snapshots(source))
        tables = await open_tables(still, clock)
        opened.push_async_callback(tables.close)
        if (bulk := bulk_of(tables)) is not None:
            # The other stores may have no place for counts that are not written yet.
            await write_late_counts(bulk)
        ephemeral = await open_ephemeral(still, clock, DURABLE_KEYS)
        opened.push_async_callback(ephemeral.close)
        objects = await open_objects(source, clock, any_signer())
        opened.push_async_callback(objects.close)
        yield Stores(tables, ephemeral, objects)


@contextmanager
def _snapshots(source: Settings) -> Generator[Settings]:
    """The settings with copies of the databases of this machine, so that nothing is changed in those of a server."""
    if source.shares_all_stores:
        yield source
        return
    with TemporaryDirectory(prefix="satchel-copy-", dir=source.data if source.data.is_dir() else None) as folder:
        still = replace(source, data=Path(folder))
        if source.has_one_writer:
            snapshot(Path(urlsplit(source.table_url).path), Path(folder) / "satchel.db")
            still = replace(still, table=f"sqlite://{Path(folder).absolute() / 'satchel.db'}")
        if source.ephemeral.startswith("memory:") and (source.data / "ephemeral.db").exists():
            snapshot(source.data / "ephemeral.db", Path(folder) / "ephemeral.db")
        yield still


@asynccontextmanager
async def _writing(target: Settings, clock: Clock) -> AsyncGenerator[Stores]:
    async with open_stores(target, clock, any_signer(), durable_keys=DURABLE_KEYS) as stores:
        # Not yet followed: a worker would count every click again that is copied.
        await stores.tables.create(*TABLES)
        yield stores


@contextmanager
def _stopped(source: Settings) -> Generator[None]:
    """Refuse while a server uses this data folder."""
    with locked(source.data / "lock", f"the data folder {source.data}"):
        yield


async def _check_empty(target: Stores, journal: CopyJournal) -> None:
    """What is there already must be from an earlier run of this copy, and not finished."""
    mark = await target.tables.get(SELF_TEST, UNFINISHED_COPY)
    if journal.fact("run") is not None and mark is not None:
        return
    has_objects = bool((await target.objects.list(limit=1)).objects)
    if mark is not None or has_objects or await _has_items(target.tables):
        raise Conflict("The target is not empty. Name stores that nobody uses, or the progress of this copy.")
    # What an earlier copy to other stores has done says nothing of these.
    journal.clear()
    await target.tables.put(SELF_TEST, UNFINISHED_COPY)


async def copy_tables(source: Stores, target: Settings, progress: Path, clock: Clock) -> None:
    """Copy all but the objects into new stores, marked as unfinished."""
    async with _writing(target, clock) as there:
        with CopyJournal.opened(progress) as journal:
            await there.tables.put(SELF_TEST, UNFINISHED_COPY)
            copy = TablesCopy(source.tables, there.tables, journal, is_left_out=is_left_out, told=lambda _: None)
            for table in COPIED:
                await copy.copy(table)
            await EphemeralCopy(source.ephemeral, there.ephemeral, EPHEMERAL_KEYS).copy()


async def objects_of(objects: Objects) -> AsyncGenerator[ObjectInfo]:
    """All that are worth keeping."""
    after: str | None = ""
    while after is not None:
        page = await objects.list(after=after)
        for info in page.objects:
            if not info.key.startswith(_FOLDERS_LEFT_OUT):
                yield info
        after = page.after


async def _has_items(tables: Tables) -> bool:
    for table in COPIED:
        if (await scanning(tables).scan(table, limit=1)).items:
            return True
    return False


async def _make_ready(target: Settings, there: Stores) -> None:
    if target.has_one_writer:
        await join_slots(there.tables)
    await there.tables.create(*tables_for(has_one_writer=target.has_one_writer))
    await there.tables.delete(SELF_TEST, UNFINISHED_COPY)


def carry_secret(source: Settings, target: Settings) -> None:
    """Tokens and links stay good if the secret does. Servers on shared stores are given theirs by a setting."""
    if target.secret or not target.has_one_writer or (target.data / "secret").exists():
        return
    file = source.data / "secret"
    secret = source.secret.encode() if source.secret else file.read_bytes() if file.exists() else b""
    if secret:
        prepare_folder(target.data)
        with open(target.data / "secret", "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as kept:
            kept.write(secret)


def any_signer() -> Signer:
    """No link of this process is given to anybody."""
    return Signer(token_bytes(MIN_SECRET_BYTES))


def _check(source: Settings, target: Settings) -> None:
    if source.has_one_writer and not Path(urlsplit(source.table_url).path).exists():
        raise BadSetting(f"There is nothing to copy: {urlsplit(source.table_url).path} is not there.")
    pairs = [(source.table_url + source.table_prefix, target.table_url + target.table_prefix)]
    pairs.append((source.objects_url, target.objects_url))
    if not source.ephemeral.startswith("memory:"):
        pairs.append((source.ephemeral + source.table_prefix, target.ephemeral + target.table_prefix))
    if any(here == there for here, there in pairs):
        raise BadSetting("The target names a store of the source. Every store of the copy has to be another one.")
    here, there = urlsplit(source.objects_url), urlsplit(target.objects_url)
    if here.scheme == there.scheme == "s3" and here.netloc == there.netloc:
        raise BadSetting("Source and target are the same bucket. Name another bucket for the copy.")
