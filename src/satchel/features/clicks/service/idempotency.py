"""Which of the clicks that people wait for are new, and which have come before under the same key."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from satchel.features.clicks.model import KeyReused, NewClick, Recorded
from satchel.features.clicks.records import SENT, ClickRow
from satchel.features.clicks.service.preparing import fingerprint_of, key_reused
from satchel.stores.ports.bulk import Step
from satchel.tables import COUNTS


class Call(msgspec.Struct, frozen=True, gc=False):
    """Clicks that somebody waits for, and when each of them happened, in milliseconds since 1970."""

    new: Sequence[NewClick]
    times: Sequence[int]


class Fresh(msgspec.Struct, kw_only=True, gc=False):
    """A click that has not been stored before, and as what it comes to be; `fingerprint` if it has a key."""

    click: NewClick
    at: int
    row: ClickRow | None = None
    fingerprint: bytes | None = None


@dataclass(frozen=True, slots=True)
class _Again:
    """A click that has come before in this step."""

    first: Fresh


_Answer: TypeAlias = Sequence[Fresh | _Again | Recorded]
_Sent: TypeAlias = tuple[bytes, _Again | Recorded]
_Key: TypeAlias = tuple[str, str]


class Plan:
    """What a step has to store for several calls, and what it is to answer them."""

    def __init__(self, step: Step, calls: Iterable[Call]) -> None:
        self.fresh: list[Fresh] = []
        self._step = step
        self._sent: dict[_Key, _Sent] = {}
        self._answers = [self._answer(call) for call in calls]

    def recorded(self) -> list[list[Recorded] | KeyReused]:
        """The answer to each call, once what is fresh has its row."""
        return [
            answer if isinstance(answer, KeyReused) else [_recorded(each) for each in answer]
            for answer in self._answers
        ]

    def _answer(self, call: Call) -> _Answer | KeyReused:
        """What each click is; if the call is refused, nothing of it is fresh."""
        answer: list[Fresh | _Again | Recorded] = []
        fresh: list[Fresh] = []
        sent_here: dict[_Key, _Sent] = {}
        for click, at in zip(call.new, call.times, strict=True):
            each = Fresh(click=click, at=at)
            if click.key is not None:
                name = click.user_id, click.key
                each.fingerprint = fingerprint_of(click)
                if sent := sent_here.get(name) or self._find(name):
                    if sent[0] != each.fingerprint:
                        return key_reused()
                    answer.append(sent[1])
                    continue
                sent_here[name] = each.fingerprint, _Again(each)
            fresh.append(each)
            answer.append(each)
        self.fresh += fresh
        self._sent |= sent_here
        return answer

    def _find(self, name: _Key) -> _Sent | None:
        if found := self._sent.get(name):
            return found
        user_id, key = name
        item = self._step.get(COUNTS, SENT.key(user_id=user_id, key=key))
        if item is None:
            return None
        return item["fingerprint"], Recorded(user_id, item["createDateTime"], repeated=True)


def _recorded(answer: Fresh | _Again | Recorded) -> Recorded:
    if isinstance(answer, Fresh):
        row = stored_row(answer)
        return Recorded(row.user_id, row.created)
    if isinstance(answer, _Again):
        row = stored_row(answer.first)
        return Recorded(row.user_id, row.created, repeated=True)
    return answer


def stored_row(fresh: Fresh) -> ClickRow:
    assert fresh.row is not None
    return fresh.row
