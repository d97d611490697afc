"""A stored object as an open file, for a process that gets files and nothing else."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import BinaryIO

from satchel.stores.ports.objects import Reading

# From a store without files, a source is copied first: a short one into memory, a long one onto the disk.
MAX_MEMORY_BYTES = 64 * 1024 * 1024


@asynccontextmanager
async def opened(reading: Reading) -> AsyncGenerator[BinaryIO]:
    """The source as a file: the store's own, or a copy that has no name."""
    if reading.file is not None:
        yield reading.file
        return
    if reading.length <= MAX_MEMORY_BYTES:
        copy: BinaryIO = os.fdopen(os.memfd_create("source"), "w+b")
    else:
        copy = tempfile.TemporaryFile()  # noqa: SIM115 -- closed below, like the other
    with copy:
        async for piece in reading:
            await asyncio.to_thread(copy.write, piece)
        copy.flush()
        yield copy
