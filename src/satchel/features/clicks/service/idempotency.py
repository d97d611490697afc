"""Idempotency keys of clicks: a click that is sent again with its key is the same click, and counts once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from satchel.features.clicks.model import KeyReused, NewClick, Recorded, check_time
from satchel.features.clicks.records import IDEMPOTENCY, ClickRow
from satchel.kernel.errors import SatchelError
from satchel.stores.patterns.idempotency_key import REPEATED_WITHIN
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Item
from satchel.tables import COUNTS

# As long as other requests with a key can be repeated. A retry is told from a late click by its key alone.
KEYS_KEPT_FOR = REPEATED_WITHIN

_encode = msgspec.msgpack.Encoder().encode


def sent_item(click: NewClick, fingerprint: bytes, created: str, now: float) -> Item:
    """The record of an idempotency key and the click that came with it."""
    assert click.key is not None
    return {
        **IDEMPOTENCY.key(user_id=click.user_id, key=click.key),
        "createDateTime": created,
        "fingerprint": fingerprint,
        "expiresAt": int(now + KEYS_KEPT_FOR.total_seconds()),
    }


def fingerprint_of(click: NewClick) -> bytes:
    """The same for the same click, another for a click that was asked for differently."""
    return blake2b(_encode(click), digest_size=16).digest()


def check_new(click: NewClick, at: int, now: int) -> None:
    """Whether a click that was not sent before comes in time. One that was sent before is known by its key."""
    if click.at is not None:
        check_time(at, now)


def key_reused() -> KeyReused:
    return KeyReused("Another click was sent with this key. Give each click a key of its own.")


class Call(msgspec.Struct, frozen=True, gc=False):
    """The clicks of one caller, and when each of them happened, in milliseconds since 1970."""

    new: Sequence[NewClick]
    times: Sequence[int]


class Fresh(msgspec.Struct, kw_only=True, gc=False):
    """A click that was not stored before, and the row it is stored as; `fingerprint` if it has an idempotency key."""

    click: NewClick
    at: int
    row: ClickRow | None = None
    fingerprint: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Repeat:
    """A click that repeats an earlier one of the same batch."""

    first: Fresh


_Answer: TypeAlias = Sequence[Fresh | _Repeat | Recorded]
_Sent: TypeAlias = tuple[bytes, _Repeat | Recorded]
_Key: TypeAlias = tuple[str, str]


class Batch:
    """The calls of one step: which of their clicks are new, and what the step answers each call.

    `now` is in milliseconds since 1970.
    """

    def __init__(self, step: Step, calls: Iterable[Call], now: int) -> None:
        self.fresh: list[Fresh] = []
        self._step = step
        self._now = now
        self._sent: dict[_Key, _Sent] = {}
        self._answers = [self._answer(call) for call in calls]

    def recorded(self) -> list[list[Recorded] | SatchelError]:
        """The answer to each call, once every fresh click has its row."""
        return [
            answer if isinstance(answer, SatchelError) else [_recorded(each) for each in answer]
            for answer in self._answers
        ]

    def _answer(self, call: Call) -> _Answer | SatchelError:
        """What each click of the call is. If the call is refused, none of its clicks is fresh."""
        try:
            return self._sorted(call)
        except SatchelError as refusal:
            return refusal

    def _sorted(self, call: Call) -> _Answer:
        answer: list[Fresh | _Repeat | Recorded] = []
        fresh: list[Fresh] = []
        sent_here: dict[_Key, _Sent] = {}
        for click, at in zip(call.new, call.times, strict=True):
            each = Fresh(click=click, at=at)
            if click.key is not None:
                name = click.user_id, click.key
                each.fingerprint = fingerprint_of(click)
                if sent := sent_here.get(name) or self._find(name):
                    if sent[0] != each.fingerprint:
                        raise key_reused()
                    answer.append(sent[1])
                    continue
                sent_here[name] = each.fingerprint, _Repeat(each)
            check_new(click, at, self._now)
            fresh.append(each)
            answer.append(each)
        self.fresh += fresh
        self._sent |= sent_here
        return answer

    def _find(self, name: _Key) -> _Sent | None:
        if found := self._sent.get(name):
            return found
        user_id, key = name
        item = self._step.get(COUNTS, IDEMPOTENCY.key(user_id=user_id, key=key))
        if item is None:
            return None
        return item["fingerprint"], Recorded(user_id, item["createDateTime"], repeated=True)


def _recorded(answer: Fresh | _Repeat | Recorded) -> Recorded:
    if isinstance(answer, Fresh):
        row = stored_row(answer)
        return Recorded(row.user_id, row.created)
    if isinstance(answer, _Repeat):
        row = stored_row(answer.first)
        return Recorded(row.user_id, row.created, repeated=True)
    return answer


def stored_row(fresh: Fresh) -> ClickRow:
    assert fresh.row is not None
    return fresh.row
