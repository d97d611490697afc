"""A list of what has to be looked at when its time comes: looking costs as much as is due, however much there is.

Names stand in sets, one for each span of time. A cursor says which spans have been emptied. A name in the set of a span
is only a hint that something may be due: who looks decides by what is stored, and then takes the name out.
"""

from dataclasses import dataclass
from datetime import timedelta

from satchel.kernel.clock import Clock
from satchel.stores.ports.ephemeral import Ephemeral, Get, Put, SetAdd, SetAll, SetRemove
from satchel.stores.schema import EphemeralKey

# Clocks of servers differ, so the cursor stays behind the present.
_BEHIND = 2
_SPANS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Due:
    """Something that may be due, and the span whose set it stands in."""

    name: str
    span: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueList:
    """Sets at the key `spans`, which has a field `span`, and a cursor.

    A list without a cursor is searched from `reach` ago. From then on, the cursor remembers longer pauses.
    """

    ephemeral: Ephemeral
    clock: Clock
    spans: EphemeralKey
    cursor: EphemeralKey
    lasts: timedelta
    reach: timedelta

    def span_of(self, moment: float) -> int:
        return int(moment // self.lasts.total_seconds())

    def adding(self, name: str, moment: float) -> SetAdd:
        """What was due before is due now."""
        return SetAdd(self._key(max(self.span_of(moment), self.span_of(self.clock()))), name)

    def removing(self, due: Due) -> SetRemove:
        """Answers whether it was there, which it is for one caller only."""
        return SetRemove(self._key(due.span), due.name)

    async def look(self) -> list[Due]:
        """What may be due by now, the earliest first. After a long pause the rest comes once this is taken out."""
        present = self.span_of(self.clock())
        kept = await self.ephemeral.run(Get(self.cursor()))
        reach = self.span_of(self.clock() - self.reach.total_seconds())
        first = reach if kept is None else min(int(kept), present)
        while True:
            last = min(present, first + _SPANS_AT_ONCE)
            spans = range(first, last + 1)
            sets = await self.ephemeral.together(*(SetAll(self._key(span)) for span in spans))
            emptied = next((span for span, names in zip(spans, sets, strict=True) if names), last)
            if (after := min(emptied, present - _BEHIND)) != first or kept is None:
                await self.ephemeral.run(Put(self.cursor(), str(after).encode()))
            if any(sets) or last == present:
                return [Due(name, span) for span, names in zip(spans, sets, strict=True) for name in sorted(names)]
            first = last

    def _key(self, span: int) -> str:
        return self.spans(span=str(span))
