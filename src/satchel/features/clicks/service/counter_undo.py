"""Take back what a counter has counted between two moments, such as what somebody forged or tried out.

The clicks are deleted, and every figure is less by what they added to it: days, months, all time, and the people who
have no other click there. A counter has readers of its own, so their other clicks are all of the same counter.
"""

from datetime import timedelta

from satchel.features.clicks.model import MAX_UNDO, milliseconds_of
from satchel.features.clicks.service.click_erase import complete_since
from satchel.features.clicks.service.click_list import read_clicks
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import counter_target
from satchel.features.clicks.service.page_counters import find_own_counter
from satchel.kernel.unfit import TimeUnfit

# Few enough that other writes need not wait long.
_AT_ONCE = 100
_MILLISECOND = timedelta(milliseconds=1)


async def undo(clicks: Clicks, owner_id: str, counter_id: str, first: str, last: str) -> int:
    """Take back the clicks of one's counter from `first` to `last`, both included; how many they were.

    If it is interrupted, repeating it does the rest.
    """
    await find_own_counter(clicks, owner_id, counter_id)
    start, end = milliseconds_of(first, "from"), milliseconds_of(last, "to") + 1
    if not 0 < end - start <= MAX_UNDO // _MILLISECOND + 1:
        raise TimeUnfit(f"Give a range of up to {MAX_UNDO.days} days, from its first moment to its last.", field="from")
    target, complete, taken = counter_target(counter_id), await complete_since(clicks), 0
    async for page in read_clicks(clicks, max(0, start) / 1000, end / 1000):
        own = [row for row in page if row.target == target]
        for begin in range(0, len(own), _AT_ONCE):
            taken += await clicks.recorder.take_back(own[begin : begin + _AT_ONCE], complete)
    return taken
