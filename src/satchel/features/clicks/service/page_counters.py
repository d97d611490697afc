"""Counters for web pages of people: make, list, change and delete them, and find the one that a page names."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from satchel.features.clicks.model import (
    MAX_COUNTER_NAME_CHARACTERS,
    MAX_COUNTERS,
    MAX_ID_CHARACTERS,
    MAX_ORIGIN_CHARACTERS,
    MAX_ORIGINS,
    CounterUnknown,
    TooManyCounters,
    check_text,
)
from satchel.features.clicks.page_counter_records import COUNTER, COUNTER_POINTER, CounterPointerRow, CounterRow
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Sum, counter_scope, read_last, read_totals
from satchel.kernel.clock import iso
from satchel.kernel.ids import new_id
from satchel.kernel.unfit import TextUnfit
from satchel.stores.patterns.idempotency_key import key_reused
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed, TransactionCancelled

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


@dataclass(frozen=True, slots=True)
class Counted:
    """A counter, what it has counted in all, and when last; an empty text if never."""

    counter: CounterRow
    total: Sum
    last_at: str


async def create_counter(
    clicks: Clicks,
    owner_id: str,
    name: str,
    origins: Sequence[str],
    daily_limit: int,
    *,
    idempotency_key: str | None = None,
) -> CounterRow:
    """A retry with the same key is the same counter: its id follows from the key."""
    counter_id = new_id(clicks.clock) if idempotency_key is None else _id_of(owner_id, idempotency_key)
    pages = check_origins(origins)
    if idempotency_key is not None:
        earlier = await COUNTER.get(clicks.tables, counter_id=counter_id)
        if earlier is not None and earlier.origins != pages:
            raise key_reused()
        if earlier is not None:
            return earlier
    if len(await _pointers(clicks, owner_id)) >= MAX_COUNTERS:
        raise TooManyCounters(f"You have {MAX_COUNTERS} counters. Delete one that you do not need.")
    row = CounterRow(
        counter_id=counter_id,
        owner_id=owner_id,
        name=_name(name) if name.strip() else pages[0].partition("://")[2],
        origins=pages,
        daily_limit=daily_limit,
        created_at=iso(clicks.clock()),
    )
    pointer = CounterPointerRow(owner_id=owner_id, counter_id=row.counter_id)
    try:
        await clicks.tables.transact([COUNTER.put(row, when=NEW), COUNTER_POINTER.put(pointer)])
    except TransactionCancelled:
        # The same request was done beside us.
        return await find_own_counter(clicks, owner_id, counter_id)
    return row


async def list_counters(clicks: Clicks, owner_id: str) -> list[Counted]:
    """The counters of a person, the newest first."""
    keys = [COUNTER.key(counter_id=each) for each in await _pointers(clicks, owner_id)]
    items = await clicks.tables.get_many(COUNTER.table, keys)
    rows = [COUNTER.read(item) for item in items if item is not None]
    return await with_figures(clicks, sorted(rows, key=lambda row: (row.created_at, row.counter_id), reverse=True))


async def with_figures(clicks: Clicks, rows: Sequence[CounterRow]) -> list[Counted]:
    scopes = [counter_scope(row.counter_id) for row in rows]
    totals = await read_totals(clicks.tables, scopes, clicks.recorder.slots)
    last = await read_last(clicks.tables, scopes, may_lag=True)
    return [
        Counted(row, totals.get(scope, Sum()), last.get(scope, "")) for row, scope in zip(rows, scopes, strict=True)
    ]


async def find_counter(clicks: Clicks, counter_id: str) -> CounterRow:
    """Any counter, for pages that name it."""
    known = 0 < len(counter_id) <= MAX_ID_CHARACTERS
    row = await COUNTER.get(clicks.tables, counter_id=counter_id) if known else None
    if row is None:
        raise CounterUnknown("There is no such counter. Copy the lines for your page again.")
    return row


async def find_own_counter(clicks: Clicks, owner_id: str, counter_id: str) -> CounterRow:
    """A counter, for its owner. For everybody else it does not exist."""
    row = await find_counter(clicks, counter_id)
    if row.owner_id != owner_id:
        raise CounterUnknown("There is no such counter. Copy the lines for your page again.")
    return row


async def change_counter(
    clicks: Clicks,
    owner_id: str,
    counter_id: str,
    *,
    name: str | None = None,
    origins: Sequence[str] | None = None,
    daily_limit: int | None = None,
) -> CounterRow:
    """What is None stays as it is."""
    row = await find_own_counter(clicks, owner_id, counter_id)
    changed = msgspec.structs.replace(
        row,
        name=row.name if name is None else _name(name),
        origins=row.origins if origins is None else check_origins(origins),
        daily_limit=row.daily_limit if daily_limit is None else daily_limit,
    )
    try:
        await clicks.tables.put(COUNTER.table, COUNTER.item(changed), when=~attr("PK").absent())
    except ConditionFailed:
        raise CounterUnknown("This counter was just deleted.") from None
    return changed


async def delete_counter(clicks: Clicks, owner_id: str, counter_id: str) -> None:
    """Pages that still name it count nothing any more."""
    await find_own_counter(clicks, owner_id, counter_id)
    await clicks.tables.transact(
        [COUNTER.delete(counter_id=counter_id), COUNTER_POINTER.delete(owner_id=owner_id, counter_id=counter_id)]
    )


def check_origins(written: Sequence[str]) -> list[str]:
    """Origins as browsers send them, from what people write: an address of a page will do."""
    origins = list(dict.fromkeys(_origin(each) for each in written))
    if not 1 <= len(origins) <= MAX_ORIGINS:
        raise TextUnfit(f"Give 1 to {MAX_ORIGINS} addresses of your pages.", field="origins")
    return origins


def _origin(written: str) -> str:
    text = written.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host = (parts.hostname or "").encode("idna").decode("ascii") if not parts.netloc.startswith("[") else ""
        host = host or (f"[{parts.hostname}]" if parts.hostname else "")
        port = parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    known = parts.scheme in ("http", "https") and "@" not in parts.netloc and len(text) <= MAX_ORIGIN_CHARACTERS
    if not known or not _HOST.fullmatch(host):
        raise TextUnfit(
            "Give the address of each site, such as https://example.org. A page on another name needs its own.",
            field="origins",
        )
    standard = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}{'' if port in (None, standard) else f':{port}'}"


def _id_of(owner_id: str, idempotency_key: str) -> str:
    return hashlib.sha256(f"{owner_id}#{idempotency_key}".encode()).hexdigest()[:32]


def _name(written: str) -> str:
    name = " ".join(written.split())
    check_text("The name of a counter", name, MAX_COUNTER_NAME_CHARACTERS)
    return name


async def _pointers(clicks: Clicks, owner_id: str) -> list[str]:
    page = await COUNTER_POINTER.list(clicks.tables, owner_id=owner_id, limit=MAX_COUNTERS)
    return [each.counter_id for each in page.records]
