"""The other end of `process.py`: starts the process, hands it a file, and kills it when time is up."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar

import msgspec

from satchel.media.frames import HEAD_BYTES, READY, Answer, Job, Made, decode_answer, encode, length_of
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import MetadataJob
from satchel.media.redaction.redaction import Redaction
from satchel.media.score_jobs import DoneAnswer, Refused, ScoreAnswer, ScoreJob

Result = TypeVar("Result")

TIME_LIMIT = timedelta(seconds=20)
# Starting takes long on a busy machine, and says nothing about the file.
START_LIMIT = timedelta(seconds=60)
# Libraries leak a little. A process that has done so many jobs makes room for a new one.
MAX_JOBS = 500

# A picture comes in one go, instead of being paused for each half of the usual 64 KiB.
_ANSWER_BYTES = 1024 * 1024

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


class ChildTooLarge(ChildDied):
    """The process gave up, as libraries do that get no more memory."""


class ChildTooSlow(Exception):
    """The job took longer than it may, and was killed."""


# A process of two gigabytes takes a moment to give them back.
_END_LIMIT = timedelta(seconds=5)
# How a process ends that reaches its own limits.
_ENDS: dict[int | None, type[Exception]] = {
    -signal.SIGXCPU: ChildTooSlow,
    -signal.SIGABRT: ChildTooLarge,
    -signal.SIGTRAP: ChildTooLarge,
    -signal.SIGILL: ChildTooLarge,
}


class Child:
    """One process, used by one job at a time. It is started for the first job and again after it has ended."""

    def __init__(self, time_limit: timedelta = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        self._process: asyncio.subprocess.Process | None = None
        self._jobs: socket.socket | None = None
        self._done = 0

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def make(self, descriptor: int, size_bytes: int, name: str) -> Made:
        """The picture that the process makes of an open file."""
        made = (await self.work(descriptor, Job(name=name, size_bytes=size_bytes, picture=True))).made
        assert made is not None
        return made

    async def read(self, descriptor: int, wanted: MetadataJob) -> MediaFacts:
        """The metadata that the process finds in an open file."""
        job = Job(name=wanted.name, size_bytes=wanted.size_bytes, metadata=wanted)
        facts = (await self.work(descriptor, job)).facts
        assert facts is not None
        return facts

    async def describe(self, descriptor: int, wanted: MetadataJob) -> tuple[MediaFacts, Redaction]:
        """Both the metadata of an open file and what others get of it."""
        job = Job(name=wanted.name, size_bytes=wanted.size_bytes, metadata=wanted, redaction=True)
        answer = await self.work(descriptor, job)
        assert answer.facts is not None and answer.redaction is not None
        return answer.facts, answer.redaction

    async def redact(self, descriptor: int, size_bytes: int, name: str) -> Redaction:
        """What others get of an open file."""
        found = (await self.work(descriptor, Job(name=name, size_bytes=size_bytes, redaction=True))).redaction
        assert found is not None
        return found

    async def make_scores(self, descriptor: int, size_bytes: int, job: ScoreJob) -> AsyncGenerator[ScoreAnswer]:
        """What the process answers, one after the other, up to and with the answer that ends the job.

        The process waits until an answer is taken, so that pages do not pile up. Close the generator: a job of which
        not all answers were taken is killed.
        """
        ended = False
        answer = await self.work(descriptor, Job(name="", size_bytes=size_bytes, score=job))
        try:
            while not ended:
                assert answer.score is not None
                ended = isinstance(answer.score, DoneAnswer | Refused)
                yield answer.score
                if not ended:
                    answer = await self._guarded(self._next_answer())
        finally:
            if not ended:
                await self.stop()

    async def work(self, descriptor: int, job: Job) -> Answer:
        """What the process answers about an open file; the first answer, if there are several."""
        if self._process is None or self._process.returncode is not None or self._done >= MAX_JOBS:
            await self.stop()
            await self._guarded(self._start(), START_LIMIT)
        self._done += 1
        return await self._guarded(self._ask(descriptor, job))

    async def _guarded(self, step: Coroutine[Any, Any, Result], limit: timedelta | None = None) -> Result:
        """Kill the process unless the step succeeds in time."""
        try:
            async with asyncio.timeout((limit or self._time_limit).total_seconds()):
                return await step
        except TimeoutError as error:
            await self.stop()
            raise ChildTooSlow from error
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError) as error:
            code = await self._end_code()
            await self.stop()
            raise _ENDS.get(code, ChildDied) from error
        except BaseException:
            # Whoever asks next must not get the answer to this job.
            await self.stop()
            raise

    async def _end_code(self) -> int | None:
        """How the process ended, if it did so by itself. It lets go of its pipes before it has an exit code."""
        if self._process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_LIMIT.total_seconds()):
                    return await self._process.wait()
        return None

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

    def end(self) -> None:
        """Let the process end by itself, since it gets no more jobs. Only while it has none."""
        if self._jobs is not None:
            self._jobs.close()
        self._process, self._jobs, self._done = None, None, 0

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
                    limit=_ANSWER_BYTES,
                    pass_fds=[theirs.fileno()],
                    env={name: os.environ[name] for name in _PASSED_ON if name in os.environ} | _LIMITS,
                )
            except BaseException:
                ours.close()
                raise
        self._jobs = ours
        assert self._process.stdout is not None
        await self._process.stdout.readexactly(len(READY))

    async def _ask(self, descriptor: int, job: Job) -> Answer:
        assert self._jobs is not None
        socket.send_fds(self._jobs, [encode(job)], [descriptor])
        return await self._next_answer()

    async def _next_answer(self) -> Answer:
        assert self._process is not None and self._process.stdout is not None
        head = await self._process.stdout.readexactly(HEAD_BYTES)
        return decode_answer(await self._process.stdout.readexactly(length_of(head)))
