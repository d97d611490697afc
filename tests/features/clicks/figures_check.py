"""Everything that was counted, compared with a recount of the clicks by the plainest means."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from satchel.stores.ports.table import Item, StartsWith, Tables
from satchel.tables import CLICKS, COUNTS


async def all_of(tables: Tables, table: Any, partition: str, sort: Any = None, index: str | None = None) -> list[Item]:
    items: list[Item] = []
    cursor = None
    while True:
        page = await tables.query(table, partition, sort, index=index, limit=1000, cursor=cursor)
        items += page.items
        if (cursor := page.cursor) is None:
            return items


async def clicks_between(tables: Tables, first: date, last: date) -> list[Item]:
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        click
        for day in days
        for click in await all_of(tables, CLICKS, f"DATE#{day}", StartsWith("CLICK#"), "DateIndex")
    ]


def scopes(click: Item) -> list[str]:
    if click["userId"].startswith("guest:") and "owner" not in click and "target" not in click:
        return []
    named = (("OWNER", "owner"), ("LINK", "target"))
    found = ["SITE", *(f"{scope}:{click[name]}" for scope, name in named if name in click)]
    return [*found, f"THING:{click['owner']}:{click['thing']}"] if "owner" in click and "thing" in click else found


def recounted(clicks: Iterable[Item]) -> dict[str, dict[str, dict[str, int]]]:
    """By scope and period what its row has to hold."""
    sums: defaultdict[str, defaultdict[str, defaultdict[str, int]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(int))
    )
    people: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for click in clicks:
        time, count, kind = click["createDateTime"], click["clickCount"], click.get("kind", "press")
        quarter = f"QUARTER:{time[:14]}{int(time[14:16]) // 15 * 15:02}"
        for scope in scopes(click):
            for period in (quarter, f"DAY:{time[:10]}", f"MONTH:{time[:7]}", "ALL"):
                row = sums[scope][f"{period}#00"]
                row["totalClicks"] += count
                row[kind] += count
                # In a quarter of an hour people are not told apart.
                if period != quarter:
                    people[scope, period].add(click["userId"])
                    row["uniqueUsers"] = len(people[scope, period])
    return {scope: {period: dict(row) for period, row in rows.items()} for scope, rows in sums.items()}


async def check_figures(tables: Tables, first: date, last: date) -> list[Item]:
    """Compare every figure of every scope; the clicks that were counted."""
    clicks = await clicks_between(tables, first, last)
    expected = recounted(clicks)
    for scope, rows in expected.items():
        stored = await all_of(tables, COUNTS, f"COUNT#{scope}")
        found = {row["SK"]: {name: row[name] for name in row if name not in ("PK", "SK")} for row in stored}
        assert found == rows, scope
        latest = max(click["createDateTime"] for click in clicks if scope in scopes(click))
        assert await tables.get(COUNTS, {"PK": f"LAST#{scope}", "SK": "-"}) == {
            "PK": f"LAST#{scope}",
            "SK": "-",
            "lastAt": latest,
        }
    site = expected.get("SITE", {})
    for stat, kind, index in (("STAT#DAILY", "DAY", "DATE"), ("STAT#MONTHLY", "MONTH", "MONTH")):
        assert await all_of(tables, CLICKS, stat) == [
            {
                "userId": stat,
                "createDateTime": (name := period[len(kind) + 1 : -3]),
                "totalClicks": row["totalClicks"],
                "uniqueUsers": row["uniqueUsers"],
                "dateKey": f"{index}#{name}",
                "recordSort": stat,
            }
            for period, row in sorted(site.items())
            if period.startswith(kind)
        ]
    total = await tables.get(CLICKS, {"userId": "STAT#TOTAL", "createDateTime": "METADATA"})
    assert (total or {}).get("totalClicks", 0) == site.get("ALL#00", {}).get("totalClicks", 0)
    return clicks
