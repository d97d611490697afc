"""The folder against real S3 servers: the same random operations on both, and every answer compared."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from satchel.kernel.errors import SatchelError
from satchel.stores.ports.objects import ObjectInfo, Objects, Part
from tests.services import S3Server
from tests.stores.harnesses_objects import (
    FREE_PART_NUMBERS,
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
KEYS = ["a", "a-b", "a/b", "a/b/c", "a0", "ab", "b", "b/c", "é", "e\u0301"]
ILLEGAL = ["", "..", "x//y", "line\n"]
SIZES = [0, 1, 10, 10, 1024, 1024, 5000, 20_000, 8 * MIB + 5]
PART_SIZES = [0, 1, 250, 5 * MIB, 5 * MIB, 5 * MIB - 1]
STARTS = [0, 0, 1, 9, 10, 11, 1023, 1024, -1, -10, -11, -1024, -1025]
LENGTHS = [None, None, 0, 1, 9, 10, 11, 5000, -1]
METADATA = [None, {}, {"owner": "u1"}, {"owner": "ü %41 ", "content-type": "x"}]
TYPES = ["application/octet-stream", "image/png", "text/plain; charset=utf-8"]
PREFIXES = ["", "a", "a/", "a-", "b", "b/", "é", "z"]
AFTERS = ["", "a", "a-", "a/b", "ab", "b", "b/c", "é", "~"]

keys = st.sampled_from(KEYS * 4 + ILLEGAL)
# Names under which something was put: without them, most questions would be about nothing.
stored = Bundle("stored")
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


def body(size: int, number: int) -> bytes:
    """Bytes that no other number has, in every place."""
    pattern = bytes((place + number) % 251 for place in range(251))
    return (pattern * (size // len(pattern) + 1))[:size]


async def stream(data: bytes, chunks: int = 1) -> AsyncIterator[bytes]:
    step = len(data) // chunks + 1
    for offset in range(0, len(data), step):
        yield data[offset : offset + step]


class SameObjects(RuleBasedStateMachine):
    """Whatever is asked, a folder and a bucket give the same answer, errors by their class."""

    runner: asyncio.Runner
    stores: tuple[Objects, Objects]
    promises: frozenset[str]
    stored = stored
    uploads = Bundle("uploads")

    def __init__(self) -> None:
        super().__init__()
        self.place = f"{uuid4().hex}/"
        self.count = 0

    def same(self, ask: Ask) -> Any:
        """The answer to a question that both sides have to answer alike."""
        ours, theirs = self.answers(ask)
        assert ours == theirs
        return ours

    def answers(self, ask: Ask) -> tuple[Any, Any]:
        async def answer(side: int) -> Any:
            try:
                return await ask(self.stores[side], side)
            except SatchelError as error:
                return type(error)

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

    @rule(
        target=stored,
        name=keys,
        size=st.sampled_from(SIZES),
        chunks=st.integers(1, 3),
        content_type=types,
        metadata=metadatas,
        fault=st.sampled_from([""] * 10 + ["longer", "shorter", "digest", "type", "metadata"]),
    )
    def put(
        self, name: str, size: int, chunks: int, content_type: str, metadata: Mapping[str, str] | None, fault: str
    ) -> MultipleResults[str]:
        self.count += 1
        data = body(size, self.count)
        declared: dict[str, Any] = {"content_type": content_type, "metadata": metadata} | {
            "": {"length": size, "sha256": digest(data)},
            "longer": {"length": size + 1},
            "shorter": {"length": size - 1},
            "digest": {"sha256": digest(data + b".")},
            "type": {"content_type": "none"},
            "metadata": {"metadata": {"Upper": "x"}},
        }.get(fault, {})

        async def ask(store: Objects, side: int) -> object:
            answer = await store.put(self.key(name), stream(data, chunks), **declared)
            return answer.size_bytes, answer.sha256

        return multiple() if isinstance(self.same(ask), type) else multiple(name)

    @rule(target=stored, name=st.sampled_from(KEYS), size=st.sampled_from(SIZES), metadata=metadatas)
    def put_plainly(self, name: str, size: int, metadata: Mapping[str, str] | None) -> MultipleResults[str]:
        return self.put(name, size, 1, TYPES[0], metadata, "")

    @rule(name=stored, start=st.sampled_from(STARTS), length=st.sampled_from(LENGTHS))
    def read(self, name: str, start: int, length: int | None) -> None:
        async def ask(store: Objects, side: int) -> object:
            async with store.read(self.key(name), start=start, length=length) as reading:
                data = b"".join([chunk async for chunk in reading])
                return data, reading.start, reading.length, self.described(reading.info)

        self.same(ask)

    @rule(name=st.one_of(stored, stored, stored, keys))
    def head(self, name: str) -> None:
        async def ask(store: Objects, side: int) -> object:
            return self.described(await store.head(self.key(name)))

        self.same(ask)

    @rule(prefix=st.sampled_from(PREFIXES), after=st.sampled_from(AFTERS), limit=st.sampled_from([1, 2, 3, 1000, 0]))
    def list_keys(self, prefix: str, after: str, limit: int) -> None:
        async def ask(store: Objects, side: int) -> object:
            listed = await store.list(self.place + prefix, after=after and self.place + after, limit=limit)
            for info in listed.objects:
                assert (await store.head(info.key)).etag == info.etag
            return [(info.key, info.size_bytes) for info in listed.objects], listed.after

        self.same(ask)

    @rule(name=consumes(stored), others=st.lists(keys, max_size=1))
    def delete(self, name: str, others: list[str]) -> None:
        self.same(lambda store, _: store.delete(*[self.key(each) for each in (name, *others)]))

    @rule(target=stored, source=st.one_of(stored, stored, stored, keys), onto=keys, metadata=metadatas)
    def copy(self, source: str, onto: str, metadata: Mapping[str, str] | None) -> MultipleResults[str]:
        given = metadata if REPLACES_METADATA in self.promises else None

        async def ask(store: Objects, side: int) -> object:
            return self.described(await store.copy(self.key(source), self.key(onto), metadata=given))

        return multiple() if isinstance(self.same(ask), type) else multiple(onto)

    @precondition(lambda self: FREE_PART_NUMBERS in self.promises)
    @rule(
        target=stored,
        name=st.sampled_from(KEYS),
        sizes=st.lists(st.sampled_from([5 * MIB, 5 * MIB, 5 * MIB + 1, 5 * MIB - 1]), max_size=2),
        last=st.sampled_from(PART_SIZES),
        chance=st.randoms(use_true_random=False),
    )
    def put_in_parts(self, name: str, sizes: list[int], last: int, chance: Random) -> str:
        """A whole upload, its parts sent and named in any order."""
        self.count += 1
        numbered = [*enumerate([*sizes, last], self.count)]
        sent, named = chance.sample(numbered, len(numbered)), chance.sample(numbered, len(numbered))

        async def ask(store: Objects, side: int) -> object:
            key, parts = self.key(name), dict[int, Part]()
            upload = await store.begin(key)
            for number, size in sent:
                parts[number] = await store.put_part(key, upload, number, stream(body(size, number)), length=size)
            try:
                return self.described(await store.complete(key, upload, [parts[number] for number, _ in named]))
            finally:
                await store.abort(key, upload)

        self.same(ask)
        return name

    @precondition(lambda self: FREE_PART_NUMBERS in self.promises)
    @rule(target=uploads, name=keys, content_type=types, metadata=metadatas)
    def begin(self, name: str, content_type: str, metadata: Mapping[str, str] | None) -> Upload:
        key = self.key(name)
        ours, theirs = self.answers(lambda store, _: store.begin(key, content_type=content_type, metadata=metadata))
        if not isinstance(ours, str):
            assert ours == theirs
            return Upload(self.key("a"), ("0" * 26, "never begun"), is_open=False)
        assert isinstance(theirs, str)
        return Upload(key, (ours, theirs))

    @rule(
        upload=uploads,
        number=st.sampled_from([1, 1, 2, 2, 3, 7, 10_000, 0]),
        size=st.sampled_from(PART_SIZES),
        wrong_by=st.sampled_from([0, 0, 0, 0, 1, -1]),
    )
    def put_part(self, upload: Upload, number: int, size: int, wrong_by: int) -> None:
        if not upload.is_open:
            return  # moto answers 500
        self.count += 1
        data, length = body(size, self.count), size + wrong_by
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
        left_out=st.sets(st.sampled_from([1, 2, 3])),
        is_reversed=st.booleans(),
        fault=st.sampled_from(["", "", "", "etag", "size", "twice", "unknown"]),
    )
    def complete(self, upload: Upload, left_out: set[int], is_reversed: bool, fault: str) -> None:
        async def ask(store: Objects, side: int) -> object:
            given = [pair[side] for number, pair in sorted(upload.parts.items()) if number not in left_out]
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

    def teardown(self) -> None:
        async def ask(store: Objects, side: int) -> object:
            found: dict[str, object] = {}
            for info in (await store.list(self.place)).objects:
                async with store.read(info.key) as reading:
                    found[info.key] = (
                        digest(b"".join([chunk async for chunk in reading])),
                        self.described(reading.info),
                    )
            await store.delete(*found)
            return found

        self.same(ask)


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


@contextmanager
def both_open(folder: ObjectsHarness, bucket: ObjectsHarness) -> Generator[type[SameObjects]]:
    with asyncio.Runner() as runner:
        stores = (runner.run(folder.open()), runner.run(bucket.open()))

        class Machine(SameObjects):
            """These two."""

        Machine.runner, Machine.stores, Machine.promises = runner, stores, bucket.promises
        try:
            yield Machine
        finally:
            runner.run(folder.close())
            runner.run(bucket.close())


def compare(folder: ObjectsHarness, bucket: ObjectsHarness, examples: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )
    with both_open(folder, bucket) as machine:
        run_state_machine_as_test(machine, settings=chosen)


def test_a_folder_answers_like_moto(tmp_path: Path, moto_bucket: S3Server) -> None:
    """Everything but signatures."""
    compare(folder_objects(tmp_path / "store"), s3_objects(moto_bucket, MOTO), examples=40)


def test_a_folder_answers_like_rclone(tmp_path: Path, s3: S3Server) -> None:
    """A second witness for all but nested keys and parts, which it knows only in order."""
    compare(folder_objects(tmp_path / "store"), s3_objects(s3, RCLONE), examples=40)
