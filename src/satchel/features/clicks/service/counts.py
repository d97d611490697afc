"""Read what was counted: the rows of a scope, whose slots add up to one figure whoever has written them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from satchel.features.clicks.model import KINDS
from satchel.features.clicks.records import ALL, COUNT, LAST, TOTAL_CLICKS, UNIQUE_USERS
from satchel.features.clicks.service.folding import link_scope
from satchel.kernel.counted import Kind
from satchel.stores.ports.table import Item, Range, Tables

# Sorts after every slot.
_AFTER_SLOTS = "~"
# Few enough that a store on this machine answers at once.
_PAGE = 100


@dataclass(slots=True)
class Sum:
    """What one period of a scope comes to; `named` is by kind."""

    clicks: int = 0
    people: int = 0
    named: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, row: Item) -> None:
        for name, number in row.items():
            if name == TOTAL_CLICKS:
                self.clicks += number
            elif name == UNIQUE_USERS:
                self.people += number
            elif name not in COUNT.keys:
                self.named[name] = self.named.get(name, 0) + number

    def kind(self, kind: Kind) -> int:
        return self.named.get(kind, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What people are shown; `people` is None where it is not known."""

    clicks: int
    people: int | None
    kinds: Mapping[Kind, int]


def figures(clicks: int, people: int | None, by_kind: Mapping[str, int]) -> Figures:
    return Figures(clicks=clicks, people=people, kinds={kind: by_kind.get(kind, 0) for kind in KINDS})


async def read_sums(tables: Tables, scope: str, first: str, last: str) -> dict[str, Sum]:
    """The sums of a scope by period, from the first to the last of one kind, such as `DAY:2025-10-02`."""
    between = Range(f"{first}#", f"{last}#{_AFTER_SLOTS}")
    sums: dict[str, Sum] = {}
    cursor = None
    while True:
        page = await tables.query(
            COUNT.table, COUNT.keys["PK"].render({"scope": scope}), between, limit=_PAGE, cursor=cursor
        )
        for row in page.items:
            sums.setdefault(row["SK"].rpartition("#")[0], Sum()).add(row)
        if (cursor := page.cursor) is None:
            return sums


async def read_sum(tables: Tables, scope: str, period: str = ALL) -> Sum:
    return (await read_sums(tables, scope, period, period)).get(period, Sum())


async def read_last(tables: Tables, scopes: Sequence[str]) -> dict[str, str]:
    """When each of these was last clicked; without those that never were."""
    rows = await tables.get_many(LAST.table, [LAST.key(scope=scope) for scope in scopes])
    return {scope: row["lastAt"] for scope, row in zip(scopes, rows, strict=True) if row is not None}


async def read_totals(tables: Tables, scopes: Sequence[str], slots: Sequence[str]) -> dict[str, Sum]:
    """The sums of all time of many scopes at once; without those that have none."""
    keys = [COUNT.key(scope=scope, period=ALL, slot=slot) for scope in scopes for slot in slots]
    rows = iter(await tables.get_many(COUNT.table, keys))
    sums: dict[str, Sum] = {}
    for scope in scopes:
        for row in islice(rows, len(slots)):
            if row is not None:
                sums.setdefault(scope, Sum()).add(row)
    return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFigures:
    """What was counted of one link."""

    opens: int
    people: int
    downloads: int
    last_at: str


class LinkCounts:
    """What the lists of links show of each; one question for all of them."""

    def __init__(self, tables: Tables, slots: Sequence[str]) -> None:
        self._tables = tables
        self._slots = slots

    async def figures(self, link_ids: Sequence[str]) -> dict[str, LinkFigures]:
        """Of those that anything was counted for, by link id."""
        scopes = {link_scope(link_id): link_id for link_id in link_ids}
        sums = await read_totals(self._tables, list(scopes), self._slots)
        last = await read_last(self._tables, list(sums))
        return {
            scopes[scope]: LinkFigures(
                opens=one.kind("open"), people=one.people, downloads=one.kind("download"), last_at=last.get(scope, "")
            )
            for scope, one in sums.items()
        }
