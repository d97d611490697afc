"""The folder against real S3 servers: the same random operations on both, and every answer compared."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from satchel.kernel.errors import Invalid, SatchelError, StoreRefused
from satchel.stores.ports.objects import ObjectInfo, Objects, Part
from tests.services import S3Server
from tests.stores.harnesses_objects import (
    MOTO,
    NESTS_KEYS,
    RCLONE,
    REPLACES_METADATA,
    TELLS_SPELLINGS_APART,
    ObjectsHarness,
    digest,
    folder_objects,
    s3_objects,
)

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.services

MIB = 1024 * 1024
# Small pools, so that operations meet: keys that begin, contain or surround each other in the order of bytes, ranges
# around the ends of the bodies, parts around the smallest size. Bodies go by their size, so that no trace prints them.
KEYS = ["a", "a-b", "a/b", "a/b/c", "a0", "ab", "b", "é", "e\u0301"]
ILLEGAL = ["", "..", "x//y", "line\n"]
SIZES = [0, 1, 10, 1024, 20_000]
PART_SIZES = [0, 1, 250, 5 * MIB, 5 * MIB, 5 * MIB - 1]
STARTS = [0, 1, 9, 10, 11, 1023, 1024, -1, -10, -11, -1024, -1025]
LENGTHS = [None, 0, 1, 9, 10, 11, 5000, -1]
METADATA = [None, {}, {"owner": "u1"}, {"owner": "ü %41 ", "content-type": "x"}]
TYPES = ["application/octet-stream", "image/png", "text/plain; charset=utf-8"]
PREFIXES = ["", "", "a", "a/", "a-", "b", "é", "z"]
AFTERS = ["", "a-", "a/", "aa", "b/", "é", "~", *KEYS]

legal = st.sampled_from(KEYS)
illegal = st.sampled_from(ILLEGAL)
sizes = st.sampled_from(SIZES)
starts = st.sampled_from(STARTS)
lengths = st.sampled_from(LENGTHS)
metadatas = st.sampled_from(METADATA)
types = st.sampled_from(TYPES)

Ask = Callable[[Objects, int], Awaitable[Any]]


@dataclass
class Upload:
    """One multipart upload on both sides, and the parts that both have."""

    key: str
    ids: tuple[str, str]
    parts: dict[int, tuple[Part, Part]] = field(default_factory=dict[int, tuple[Part, Part]])
    is_open: bool = True


async def stream(data: bytes, chunks: int = 1) -> AsyncIterator[bytes]:
    step = len(data) // chunks + 1
    for offset in range(0, len(data), step):
        yield data[offset : offset + step]


class Sides(RuleBasedStateMachine):
    """Two stores that are asked the same."""

    runner: asyncio.Runner
    stores: tuple[Objects, Objects]
    promises: frozenset[str]

    def __init__(self) -> None:
        super().__init__()
        self.place = f"{uuid4().hex}/"
        self.count = 0

    def same(self, ask: Ask) -> Any:
        """The answer to a question that both sides have to answer alike, errors by their class."""
        ours, theirs = self.answers(ask)
        assert ours == theirs
        return ours

    def answers(self, ask: Ask) -> tuple[Any, Any]:
        async def answer(side: int) -> Any:
            try:
                return await ask(self.stores[side], side)
            except SatchelError as error:
                return Invalid if isinstance(error, StoreRefused) else type(error)

        async def both() -> tuple[Any, Any]:
            return await answer(0), await answer(1)

        return self.runner.run(both())

    def key(self, name: str) -> str:
        if NESTS_KEYS not in self.promises and name not in ILLEGAL:
            name = name.replace("/", "_")
        if TELLS_SPELLINGS_APART not in self.promises:
            name = name.replace("\u0301", "")
        return self.place + name

    def described(self, info: ObjectInfo) -> tuple[object, ...]:
        added = set[str]() if REPLACES_METADATA in self.promises else {"mtime"}
        metadata = {name: value for name, value in info.metadata.items() if name not in added}
        return info.key, info.size_bytes, info.content_type, metadata

    def new_body(self, size: int) -> bytes:
        """Bytes that no other body of this run has in any place."""
        self.count += 1
        pattern = bytes((place + self.count) % 251 for place in range(251))
        return (pattern * (size // len(pattern) + 1))[:size]

    def put_same(self, name: str, data: bytes, chunks: int, declared: Mapping[str, Any]) -> None:
        async def ask(store: Objects, side: int) -> object:
            answer = await store.put(self.key(name), stream(data, chunks), **declared)
            return answer.size_bytes, answer.sha256

        self.same(ask)

    def read_same(self, name: str, start: int = 0, length: int | None = None) -> None:
        async def ask(store: Objects, side: int) -> object:
            async with store.read(self.key(name), start=start, length=length) as reading:
                data = b"".join([chunk async for chunk in reading])
                return data, reading.start, reading.length, self.described(reading.info)

        self.same(ask)

    def teardown(self) -> None:
        for name in KEYS:
            self.read_same(name)
        self.same(lambda store, _: store.delete(*[self.key(name) for name in KEYS]))


class SameObjects(Sides):
    """Whole objects: names, faults on the way, ranges, listings, copies."""

    @initialize(stored=st.dictionaries(legal, st.tuples(sizes, metadatas), min_size=2))
    def begin_with(self, stored: dict[str, tuple[int, Mapping[str, str] | None]]) -> None:
        """Most questions would be about nothing, were there nothing at first."""
        for name, (size, metadata) in stored.items():
            self.put_same(name, self.new_body(size), 1, {"metadata": metadata})

    @rule(name=legal, size=sizes, chunks=st.integers(1, 3), content_type=types, metadata=metadatas)
    def put(self, name: str, size: int, chunks: int, content_type: str, metadata: Mapping[str, str] | None) -> None:
        data = self.new_body(size)
        declared = {"length": size, "sha256": digest(data), "content_type": content_type, "metadata": metadata}
        self.put_same(name, data, chunks, declared)

    @rule(name=legal, size=sizes, fault=st.sampled_from(["longer", "shorter", "digest", "type", "metadata"]))
    def put_wrongly(self, name: str, size: int, fault: str) -> None:
        data = self.new_body(size)
        declared: dict[str, Mapping[str, Any]] = {
            "longer": {"length": size + 1},
            "shorter": {"length": size - 1},
            "digest": {"sha256": digest(data + b".")},
            "type": {"content_type": "none"},
            "metadata": {"metadata": {"Upper": "x"}},
        }
        self.put_same(name, data, 2, declared[fault])

    @rule(name=illegal, other=legal)
    def use_an_illegal_name(self, name: str, other: str) -> None:
        self.put_same(name, b"x", 1, {})
        self.read_same(name)
        self.same(lambda store, _: store.delete(self.key(other), self.key(name)))
        self.same(lambda store, _: store.copy(self.key(other), self.key(name)))

    @rule(name=legal, start=starts, length=lengths)
    def read(self, name: str, start: int, length: int | None) -> None:
        self.read_same(name, start, length)

    @rule(prefix=st.sampled_from(PREFIXES), after=st.sampled_from(AFTERS), limit=st.sampled_from([1, 2, 1000, 0]))
    def list_keys(self, prefix: str, after: str, limit: int) -> None:
        async def ask(store: Objects, side: int) -> object:
            listed = await store.list(self.place + prefix, after=after and self.place + after, limit=limit)
            for info in listed.objects:
                assert (await store.head(info.key)).etag == info.etag
            return [(info.key, info.size_bytes) for info in listed.objects], listed.after

        self.same(ask)

    @rule(names=st.lists(legal, min_size=1, max_size=2))
    def delete(self, names: list[str]) -> None:
        self.same(lambda store, _: store.delete(*[self.key(name) for name in names]))

    @rule(source=legal, onto=legal, metadata=metadatas)
    def copy(self, source: str, onto: str, metadata: Mapping[str, str] | None) -> None:
        given = metadata if REPLACES_METADATA in self.promises else None

        async def ask(store: Objects, side: int) -> object:
            await store.copy(self.key(source), self.key(onto), metadata=given)
            return self.described(await store.head(self.key(onto)))

        self.same(ask)


class SameUploads(Sides):
    """Large objects and objects in parts: in any order, replaced, left out, wrong."""

    uploads = Bundle("uploads")

    @rule(name=legal, over=st.sampled_from([0, 1]), metadata=metadatas)
    def put_large(self, name: str, over: int, metadata: Mapping[str, str] | None) -> None:
        data = self.new_body(8 * MIB + over)
        self.put_same(name, data, 3, {"sha256": digest(data), "metadata": metadata})

    @rule(name=legal, start=starts, length=lengths)
    def read(self, name: str, start: int, length: int | None) -> None:
        self.read_same(name, start, length)

    @rule(
        name=legal,
        firsts=st.lists(st.sampled_from([5 * MIB, 5 * MIB, 5 * MIB - 1]), max_size=2),
        last=st.sampled_from(PART_SIZES),
        chance=st.randoms(use_true_random=False),
    )
    def put_in_parts(self, name: str, firsts: list[int], last: int, chance: Random) -> None:
        """A whole upload, its parts sent and named in any order."""
        bodies = [*enumerate([self.new_body(size) for size in (*firsts, last)], 1)]
        sent, named = chance.sample(bodies, len(bodies)), chance.sample(bodies, len(bodies))

        async def ask(store: Objects, side: int) -> object:
            key, parts = self.key(name), dict[int, Part]()
            upload = await store.begin(key)
            for number, data in sent:
                parts[number] = await store.put_part(key, upload, number, stream(data), length=len(data))
            try:
                return self.described(await store.complete(key, upload, [parts[number] for number, _ in named]))
            finally:
                await store.abort(key, upload)

        self.same(ask)

    @rule(target=uploads, name=legal, content_type=types, metadata=metadatas)
    def begin(self, name: str, content_type: str, metadata: Mapping[str, str] | None) -> Upload:
        key = self.key(name)
        return Upload(
            key, self.answers(lambda store, _: store.begin(key, content_type=content_type, metadata=metadata))
        )

    @rule(
        upload=uploads,
        number=st.sampled_from([1, 1, 2, 2, 10_000, 0]),
        size=st.sampled_from(PART_SIZES),
        wrong_by=st.sampled_from([0, 0, 0, 0, 1, -1]),
    )
    def put_part(self, upload: Upload, number: int, size: int, wrong_by: int) -> None:
        if not upload.is_open:
            return  # moto answers 500
        data, length = self.new_body(size), size + wrong_by
        ours, theirs = self.answers(
            lambda store, side: store.put_part(upload.key, upload.ids[side], number, stream(data), length=length)
        )
        if isinstance(ours, Part):
            assert (ours.number, ours.size_bytes) == (theirs.number, theirs.size_bytes)
            upload.parts[number] = (ours, theirs)
        else:
            assert ours == theirs

    @rule(upload=uploads)
    def parts(self, upload: Upload) -> None:
        async def ask(store: Objects, side: int) -> object:
            stored = await store.parts(upload.key, upload.ids[side])
            assert [*stored] == [upload.parts[number][side] for number in sorted(upload.parts)]
            return [(part.number, part.size_bytes) for part in stored]

        self.same(ask)

    @rule(
        upload=uploads,
        left_out=st.sampled_from([None, None, 1, 2]),
        is_reversed=st.booleans(),
        fault=st.sampled_from(["", "", "", "etag", "size", "twice", "unknown"]),
    )
    def complete(self, upload: Upload, left_out: int | None, is_reversed: bool, fault: str) -> None:
        async def ask(store: Objects, side: int) -> object:
            given = [pair[side] for number, pair in sorted(upload.parts.items()) if number != left_out]
            if is_reversed:
                given.reverse()
            given = _with_fault(given, fault)
            return self.described(await store.complete(upload.key, upload.ids[side], given))

        if not isinstance(self.same(ask), type):
            upload.is_open = False

    @rule(upload=uploads)
    def abort(self, upload: Upload) -> None:
        self.same(lambda store, side: store.abort(upload.key, upload.ids[side]))
        upload.is_open = False


def _with_fault(parts: list[Part], fault: str) -> list[Part]:
    if fault == "unknown":
        return [*parts, Part(99, 1, "00" * 16)]
    if fault and parts:
        first = parts[0]
        changed = {
            "etag": replace(first, etag=f"{int(first.etag[:1], 16) ^ 1:x}{first.etag[1:]}"),
            "size": replace(first, size_bytes=first.size_bytes + 1),
        }
        return [*parts, first] if fault == "twice" else [changed[fault], *parts[1:]]
    return parts


def compare(folder: ObjectsHarness, bucket: ObjectsHarness, machine: type[Sides], examples: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )
    with asyncio.Runner() as runner:
        machine.runner, machine.promises = runner, bucket.promises
        machine.stores = (runner.run(folder.open()), runner.run(bucket.open()))
        try:
            run_state_machine_as_test(machine, settings=chosen)
        finally:
            runner.run(folder.close())
            runner.run(bucket.close())


def test_a_folder_answers_like_rclone(tmp_path: Path, s3: S3Server) -> None:
    compare(folder_objects(tmp_path / "store"), s3_objects(s3, RCLONE), SameObjects, examples=20)


def test_a_folder_answers_like_moto(tmp_path: Path, moto_bucket: S3Server) -> None:
    compare(folder_objects(tmp_path / "store"), s3_objects(moto_bucket, MOTO), SameObjects, examples=20)


def test_a_folder_answers_like_moto_in_parts(tmp_path: Path, moto_bucket: S3Server) -> None:
    """rclone knows parts only in order, so that moto is the witness here."""
    compare(folder_objects(tmp_path / "store"), s3_objects(moto_bucket, MOTO), SameUploads, examples=6)
