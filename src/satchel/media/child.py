"""The other end of `process.py`: starts a process that decodes, hands it a file, and kills it when time is up."""

import asyncio
import os
import socket
import sys
from contextlib import suppress
from datetime import timedelta

from satchel.media.frames import HEAD_BYTES, Job, Made, decode_made, encode, length_of

TIME_LIMIT = timedelta(seconds=20)
# Libraries leak a little. A process that has done so many jobs makes room for a new one.
MAX_JOBS = 500

# Of our environment the process gets only these: it decodes files of strangers, and must not know our secrets.
_PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "PYTHONDONTWRITEBYTECODE",
)
_LIMITS = {
    # Loaders that are not made for files of strangers are off; a job has one core.
    "VIPS_BLOCK_UNTRUSTED": "1",
    "VIPS_CONCURRENCY": "1",
    # Each thread would reserve as much memory for itself as it likes.
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
}


class ChildDied(Exception):
    """The process ended in the middle of a job."""


class ChildTooSlow(Exception):
    """The job took longer than it may, and was killed."""


class Child:
    """One process that decodes. It is started for the first job and again after it has ended."""

    def __init__(self, time_limit: timedelta = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        self._process: asyncio.subprocess.Process | None = None
        self._jobs: socket.socket | None = None
        self._done = 0

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def make(self, descriptor: int, size_bytes: int, name: str) -> Made:
        """What the process makes of an open file."""
        if self._process is None or self._process.returncode is not None or self._done >= MAX_JOBS:
            await self.stop()
            await self._start()
        self._done += 1
        try:
            async with asyncio.timeout(self._time_limit.total_seconds()):
                return await self._ask(descriptor, Job(name, size_bytes))
        except TimeoutError as error:
            await self.stop()
            raise ChildTooSlow from error
        except (OSError, asyncio.IncompleteReadError) as error:
            await self.stop()
            raise ChildDied from error
        except BaseException:
            # Whoever asks next must not get the answer to this job.
            await self.stop()
            raise

    async def stop(self) -> None:
        """Kill the process, whatever it does."""
        process, jobs, self._process, self._jobs, self._done = self._process, self._jobs, None, None, 0
        if jobs is not None:
            jobs.close()
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            # Reading to the end lets go of the pipe.
            await process.communicate()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "satchel.media.process",
                    str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _LIMITS,
                )
            except BaseException:
                ours.close()
                raise
        self._jobs = ours

    async def _ask(self, descriptor: int, job: Job) -> Made:
        assert self._process is not None and self._process.stdout is not None and self._jobs is not None
        socket.send_fds(self._jobs, [encode(job)], [descriptor])
        answers = self._process.stdout
        head = await answers.readexactly(HEAD_BYTES)
        return decode_made(await answers.readexactly(length_of(head)))
