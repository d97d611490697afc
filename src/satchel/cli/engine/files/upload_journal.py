"""The journal of a `satchel put` or `photos send`, from which the same command resumes an interrupted one.

A line is appended at every step and survives the death of the command; who loses power loses the last few, and sends
those files again. The journal goes when everything was sent.
"""

import fcntl
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from satchel.cli.engine.files.local_files import Source
from satchel.cli.engine.terminal.output import CommandFailed

# As long as the server keeps an upload to which nothing comes.
KEPT_SECONDS = 7 * 24 * 3600


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """How far one file has come."""

    source: str
    version: str
    state: Literal["begun", "done"]
    upload_id: str


class Journal:
    """The steps of one job: the same files to the same place of one person. One command has it at a time."""

    def __init__(self, folder: Path, job: Sequence[str]) -> None:
        self._path = folder / f"{_digest(*job)}.jsonl"
        self._writing = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._forget_old(folder)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._token, *lines = self._path.read_bytes().splitlines() or [self._new_token()]
        except BlockingIOError as error:
            os.close(self._file)
            raise CommandFailed("Another command is sending the same files. Wait until it ends.") from error
        except OSError as error:
            raise CommandFailed(
                f"The upload journal {self._path} cannot be written: {error.strerror}. Free space or make it writable."
            ) from error
        self._steps = {step.source: step for step in _steps(lines)}

    @property
    def name(self) -> str:
        """Names the job, also after it was resumed: the day of its beginning and a few letters."""
        return self._token[:17].decode()

    def key_of(self, source: Source) -> str:
        """The same whenever this job sends this version of the file, so that the server makes one file of it."""
        return self.key_for(source.path, source.place, source.version)

    def key_for(self, *parts: str) -> str:
        """The same whenever this job does the same."""
        return _digest(self._token.decode(), *parts)

    def recall(self, source: Source) -> Step | None:
        return self._steps.get(_digest(source.path, source.place))

    def upload_of(self, source: Source) -> str:
        step = self.recall(source)
        return step.upload_id if step else ""

    def is_done(self, source: Source) -> bool:
        step = self.recall(source)
        return step is not None and step.state == "done" and step.version == source.version

    def note(self, source: Source, state: Literal["begun", "done"], upload_id: str) -> None:
        key = _digest(source.path, source.place)
        step = Step(source=key, version=source.version, state=state, upload_id=upload_id)
        with self._writing:
            os.write(self._file, msgspec.json.encode(step) + b"\n")

    def close(self, *, finished: bool) -> None:
        if finished:
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def _new_token(self) -> bytes:
        token = f"{datetime.now().astimezone():%Y-%m-%d} {secrets.token_hex(12)}".encode()
        os.write(self._file, token + b"\n")
        return token

    def _forget_old(self, folder: Path) -> None:
        for path in folder.glob("*.jsonl"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                    path.unlink()


def _steps(lines: Sequence[bytes]) -> Iterator[Step]:
    for line in lines:
        with suppress(msgspec.DecodeError):  # the last line of a machine that lost power
            yield msgspec.json.decode(line, type=Step)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=12).hexdigest()
