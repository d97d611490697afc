"""The queue of pictures: what somebody waits for comes before what is only new, and in both the newest comes first.

It is short-lived state. A job that is lost, with a maker or because the queue is full, is harmless: whoever asks for
the picture puts it in again.
"""

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from satchel.media.records import ASKED, CLAIM, NEW, WAITING
from satchel.stores.ports.ephemeral import Delete, Ephemeral, ListPush, ListRange, ListTrim, Publish, Put

# What comes last in a full queue falls out. Nobody has asked for it, or not for long.
MAX_ASKED = 1_000
MAX_NEW = 10_000
# Where makers hear that there is something to do.
WAKE = "pictures:wake"

_ASKED_FOR = timedelta(seconds=30)
# Longer than a job can take with its one repetition.
_CLAIMED_FOR = timedelta(seconds=60)


class PictureJob(msgspec.Struct, frozen=True, array_like=True):
    """A source of which a picture is to be made."""

    source: str
    name: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(PictureJob).decode


class PictureQueue:
    """The queue, on the store that servers and workers share."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral

    async def add(self, jobs: Sequence[PictureJob]) -> None:
        """New files, the last of which comes first."""
        if jobs:
            pushes = [ListPush(NEW(), _encode(job)) for job in jobs[-MAX_NEW:]]
            await self._ephemeral.together(*pushes, ListTrim(NEW(), 0, MAX_NEW - 1), Publish(WAKE, b""))

    async def ask(self, job: PictureJob) -> None:
        """Somebody waits for this one. Asked for again soon, it is not put in again."""
        if await self._ephemeral.run(Put(WAITING(source=job.source), b"", ttl=_ASKED_FOR, only_if_absent=True)):
            await self._ephemeral.together(
                ListPush(ASKED(), _encode(job)), ListTrim(ASKED(), 0, MAX_ASKED - 1), Publish(WAKE, b"")
            )

    async def take(self) -> PictureJob | None:
        """The next one, claimed for this maker until `done`; None if there is nothing to do."""
        for key in (ASKED(), NEW()):
            while True:
                taken, _ = await self._ephemeral.together(ListRange(key, 0, 0), ListTrim(key, 1, -1))
                if not taken:
                    break
                job = _decode(taken[0])
                if await self._ephemeral.run(Put(CLAIM(source=job.source), b"", ttl=_CLAIMED_FOR, only_if_absent=True)):
                    return job
        return None

    async def done(self, source: str) -> None:
        """Nobody works on it any more. Those who wait look again."""
        await self._ephemeral.together(
            Delete(CLAIM(source=source)), Delete(WAITING(source=source)), Publish(channel_of(source), b"")
        )


def channel_of(source: str) -> str:
    return f"picture:{source}"
