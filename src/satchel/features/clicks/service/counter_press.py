"""Count what pages of other sites send: anybody may send it, so it is held against origin, signals and limits.

A page's origin cannot be proved, since a program can send any. So the check keeps copies of a page from counting, and
the limits keep forgers from counting much; what they sent can be taken back (`counter_undo.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from satchel.features.clicks.model import (
    MAX_ID_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    NewClick,
    OriginNotAllowed,
    Recorded,
    check_text,
)
from satchel.features.clicks.page_counter_records import CounterRow
from satchel.features.clicks.service.click_record import record
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import counter_target
from satchel.features.clicks.service.page_counters import find_counter
from satchel.kernel.robots import is_beforehand, is_robot
from satchel.kernel.visit_source import device_of, referrer_host

PageKind = Literal["view", "press"]
# Ids that a page gives its readers are its own: they never name a member, nor a reader of another page.
PAGE_USER = "page:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvent:
    """What a page says happened, and who asks to count it. `user_id` is a name that the page itself has for them."""

    kind: PageKind
    label: str | None = None
    user_id: str | None = None
    referrer: str = ""
    address: str
    agent: str
    headers: Mapping[str, str]


async def press(clicks: Clicks, counter_id: str, event: PageEvent) -> Recorded | None:
    """Count it durably; None if its sender is a robot, or does not want to be counted."""
    await clicks.page_limits.count_sender(event.address)
    counter = await find_counter(clicks, counter_id)
    _check_origin(counter, event.headers.get("origin"))
    if event.label is not None:
        check_text("A label", event.label, MAX_LABEL_CHARACTERS)
    if declines(event.headers) or is_robot(event.headers) or is_beforehand(event.headers):
        return None
    await clicks.page_limits.count_counter(counter.counter_id, event.address, counter.daily_limit)
    click = NewClick(
        user_id=await _reader(clicks, counter.counter_id, event),
        kind=event.kind,
        label=event.label,
        target=counter_target(counter.counter_id),
        referrer=_host_before(event),
        device=device_of(event.agent) if event.kind == "view" else None,
    )
    (recorded,) = await record(clicks, [click])
    return recorded


def _host_before(event: PageEvent) -> str | None:
    """Of a view alone: a press comes after it. Pages of the same site are no other place."""
    own = urlsplit(event.headers.get("origin", "")).hostname or ""
    return referrer_host(event.referrer, own) if event.kind == "view" else None


def declines(headers: Mapping[str, str]) -> bool:
    """Whether a browser says by Global Privacy Control or Do Not Track that its reader wants no counting."""
    return headers.get("sec-gpc") == "1" or headers.get("dnt") == "1"


def _check_origin(counter: CounterRow, origin: str | None) -> None:
    if origin is None or origin.lower() not in counter.origins:
        raise OriginNotAllowed(f"This counter is for {', '.join(counter.origins)}. Add the address of this page to it.")


async def _reader(clicks: Clicks, counter_id: str, event: PageEvent) -> str:
    """Who is counted. Each counter knows its readers by other ids, so nobody is followed from page to page."""
    if event.user_id is None:
        return await clicks.visitors.visitor_of(event.address, f"{counter_id}\n{event.agent}")
    prefix = f"{PAGE_USER}{counter_id}:"
    check_text("A user id", event.user_id, MAX_ID_CHARACTERS - len(prefix))
    return prefix + event.user_id
