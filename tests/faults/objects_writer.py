"""Keeps objects in a folder as fast as it can and says what it does, until it is killed.

Usage: python -m tests.faults.objects_writer <folder> <first version> <seed>
"""

import asyncio
import hashlib
import os
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.embedded.objects_folder import FolderObjects

MIB = 1024 * 1024
TASKS = 8


def say(*words: object) -> None:
    # One call, so that a line is written whole or not at all.
    os.write(1, f"{' '.join(map(str, words))}\n".encode())


def body(key: str, version: int, size: int) -> bytes:
    """Bytes that say what they should be: their key, version and size, then a pattern that only these have."""
    start = f"{key}|{version}|{size}|".encode()
    pattern = hashlib.sha256(start).digest()
    return start + (pattern * (size // len(pattern) + 1))[:size]


def version_of(data: bytes, key: str) -> int:
    """The version of these bytes, after making sure that they are whole and belong to this key."""
    claimed, version, size, _ = data.split(b"|", 3)
    assert claimed.decode() == key
    assert data == body(key, int(version), int(size))
    return int(version)


async def open_folder(root: Path) -> FolderObjects:
    return await FolderObjects.open(root, clock=system_clock, signer=Signer(b"x" * 32), base_url="")


async def stream(data: bytes) -> AsyncIterator[bytes]:
    for offset in range(0, len(data), 200_000):
        yield data[offset : offset + 200_000]


async def put_in_parts(store: FolderObjects, key: str, data: bytes) -> None:
    upload = await store.begin(key)
    pieces = (data[: 5 * MIB], data[5 * MIB :])
    parts = [
        await store.put_part(key, upload, number, stream(piece), length=len(piece))
        for number, piece in enumerate(pieces, 1)
    ]
    await store.complete(key, upload, parts)


async def put_by_copy(store: FolderObjects, key: str, data: bytes) -> None:
    await store.put(f"{key}.source", stream(data))
    await store.copy(f"{key}.source", key)
    await store.delete(f"{key}.source")


async def change(store: FolderObjects, kind: str, key: str, version: int, chance: random.Random) -> None:
    if kind == "put":
        await store.put(key, stream(body(key, version, chance.choice([0, 100, 20_000]))))
    elif kind == "large":
        await store.put(key, stream(body(key, version, 2 * MIB)))
    elif kind == "parts":
        await put_in_parts(store, key, body(key, version, 5 * MIB + 1000))
    elif kind == "copy":
        await put_by_copy(store, key, body(key, version, 50_000))
    else:
        await store.delete(key)


async def change_for_ever(store: FolderObjects, task: int, version: int, chance: random.Random) -> None:
    """Each task has keys of its own, so that what it says of a key is all that happened to it."""
    while True:
        version += 1
        kind = chance.choices(["put", "large", "parts", "copy", "delete"], [12, 2, 1, 2, 4])[0]
        is_new = kind == "put" and chance.random() < 0.3
        key = f"{task}/new-{version}" if is_new else f"{task}/{chance.randrange(3)}"
        say("begin", kind, key, version)
        await change(store, kind, key, version, chance)
        say("done", kind, key, version)


async def main(root: str, first_version: str, seed: str) -> None:
    store = await open_folder(Path(root))
    say("ready")
    tasks = [change_for_ever(store, task, int(first_version), random.Random(f"{seed}/{task}")) for task in range(TASKS)]
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
