"""Folds clicks in a Lambda function behind the stream of the clicks' table, with the same code as `satchel worker`.

An event source mapping with a tumbling window names the shard of its records. Then positions keep anything from being
folded twice, as with workers. Without the shard every event is claimed by its id.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from satchel.config import load_settings
from satchel.edge.http.logs import start_journal
from satchel.features.clicks.service.streamed.publication import publish, publisher_lease
from satchel.features.clicks.service.streamed.stream_fold import CONSUMER, Fold, note_claims
from satchel.features.clicks.stream_records import CLAIM, ClaimRow
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import SatchelError
from satchel.stores.connect import changes_of_event, open_tables
from satchel.stores.consumer import Consumer
from satchel.stores.patterns.optimistic_update import CONTENTION, NEW, optimistic_update
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, Change, Tables
from satchel.tables import CLICKS, COUNTS

# All runs of the function are one worker: each run continues the one before, on any machine.
WORKER = "lambda"
# Longer than a stream keeps events that it could deliver again.
CLAIMED_FOR = timedelta(hours=48)
_NOTED_EVERY = timedelta(minutes=30)
# A function has little time. What is given up is delivered again.
_BACKOFF = replace(CONTENTION, attempts=8)

_log = logging.getLogger("satchel.lambda")


class EventFold:
    """Folds the records of events, and answers which have to be delivered again."""

    def __init__(self, tables: Tables, clock: Clock, *, most_writes: int = MAX_TRANSACTION_ITEMS) -> None:
        self._tables = tables
        self._clock = clock
        self._fold = Fold(tables, clock, most_writes=most_writes)
        self._note_again_at = 0.0
        self._consumer = Consumer(tables=tables, table=CLICKS, name=CONSUMER, worker=WORKER, clock=clock)

    async def handle(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Fold an event; the answer names the first record that was not folded, from which delivery continues."""
        records: Sequence[Mapping[str, Any]] = event.get("Records", [])
        changes = changes_of_event(records)
        done = 0
        try:
            if shard := event.get("shardId"):
                done = await self._consumer.take(str(shard), changes, self._fold)
            else:
                done = await self._claim([str(record["eventID"]) for record in records], changes)
        except SatchelError as error:
            # What was folded before the error is known by position or claim, and skipped when it is delivered again.
            _log.warning("folding clicks was put off: %s", error.detail)
        left = [{"itemIdentifier": change.position} for change in changes[done : done + 1]]
        answer: dict[str, Any] = {"batchItemFailures": left}
        # A tumbling window requires a state in the answer. We have none.
        return answer | {"state": {}} if "window" in event else answer

    async def publish(self, holder: str) -> int:
        """Assign the site's rows, unless a worker or another run holds the lease."""
        lease = publisher_lease(self._tables, self._clock, f"{WORKER}/{holder}")
        published = await publish(self._tables, lease)
        await lease.release()
        return published

    async def _claim(self, event_ids: Sequence[str], changes: Sequence[Change]) -> int:
        """Fold the events that were not folded yet; how many are done, which is all of them."""
        await self._note_claims()
        await self._fold_unclaimed(event_ids, changes)
        return len(changes)

    @optimistic_update(backoff=_BACKOFF)
    async def _fold_unclaimed(self, event_ids: Sequence[str], changes: Sequence[Change]) -> None:
        """One attempt. It is refused while another run folds the same events, or counts the same people."""
        found = await self._tables.get_many(COUNTS, [CLAIM.key(event_id=event_id) for event_id in event_ids])
        pairs = zip(event_ids, changes, found, strict=True)
        # An event that is in the batch twice is one event, and is claimed once.
        left = list({event_id: (event_id, change) for event_id, change, claim in pairs if claim is None}.values())
        while left:
            left = left[await self._fold_and_claim(left) :]

    async def _note_claims(self) -> None:
        if self._clock() >= self._note_again_at:
            await note_claims(self._tables, self._clock)
            self._note_again_at = self._clock() + _NOTED_EVERY.total_seconds()

    async def _fold_and_claim(self, left: Sequence[tuple[str, Change]]) -> int:
        # Any name of a shard will do: it only decides which slot is added to.
        effect = await self._fold(left[0][0], [change for _, change in left], beside=1)
        expires_at = int(self._clock() + CLAIMED_FOR.total_seconds())
        claims = [ClaimRow(event_id=event_id, expires_at=expires_at) for event_id, _ in left[: effect.covers]]
        await self._tables.transact([*effect.writes, *(CLAIM.put(claim, when=NEW) for claim in claims)])
        return effect.covers


class _Warm:
    """What stays open from one run to the next on the same machine."""

    def __init__(self) -> None:
        settings = load_settings()
        start_journal(settings.log_format, settings.log_level)
        self.runner = asyncio.Runner()
        self.fold = EventFold(self.runner.run(open_tables(settings, system_clock)), system_clock)


_warm = cache(_Warm)


def fold_clicks(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """The function behind the stream; settings come from the environment, as `SATCHEL_TABLE`."""
    warm = _warm()

    async def fold() -> dict[str, Any]:
        answer = await warm.fold.handle(event)
        with suppress(SatchelError):  # the schedule publishes what we cannot
            await warm.fold.publish(str(context.aws_request_id))
        return answer

    return warm.runner.run(fold())


def publish_clicks(event: Mapping[str, Any], context: Any) -> dict[str, int]:
    """The function for a schedule, once a minute: publishes what the last runs of `fold_clicks` left to each other."""
    del event
    warm = _warm()
    return {"published": warm.runner.run(warm.fold.publish(str(context.aws_request_id)))}
