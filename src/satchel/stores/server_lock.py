"""A lock on what only one server may use: a data folder, a file of tables, a folder of objects."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from satchel.kernel.errors import Unavailable


@contextmanager
def locked(file: Path, what: str) -> Generator[None]:
    """Hold the lock of this file, which is made if it is not there. It ends with the process."""
    try:
        lock = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb")
        os.fchmod(lock.fileno(), 0o600)  # an older version let others read it
    except OSError as error:
        raise Unavailable(
            f"This server cannot write to {what} ({error.strerror}). Choose another place, or fix its rights."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unavailable(
                f"Another Satchel is using {what}. Stop it first, or choose another place for this one."
            ) from error
        yield
