"""What is exported is what is on the screen, to the last number, and nothing in it can be run."""

import csv
import io
import re

import pytest

from tests.application import Caller, Satchel
from tests.features.clicks.given_link import Shared, asked, shared_by

RANGE = {"from": "2030-02-10", "to": "2030-03-18"}
HEADINGS = ["clicks", "people", "press", "open", "view", "download", "upload"]


@pytest.fixture
async def shared(satchel: Satchel, bob: Caller) -> Shared:
    made = await shared_by(satchel, bob)
    for number in range(12):
        await made.click(
            f"visitor:{number % 5}", "view" if number % 3 else "open", ago=number * 4 * 3600, count=1 + number
        )
    return made


async def table(caller: Caller, **params: str) -> list[dict[str, str]]:
    answer = await caller("GET", "/stats/mine/export", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    assert ".csv" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
async def test_days_equal_the_screen(shared: Shared, zone: str) -> None:
    shown = await asked(shared.owner, "mine/days", zone=zone, **RANGE)
    rows = await table(shared.owner, zone=zone, **RANGE)
    assert [{name: str(value) for name, value in day.items()} for day in shown["days"]] == rows
    answer = await shared.owner("GET", "/stats/mine/export", params={"format": "json", "zone": zone, **RANGE})
    assert answer.json() == shown
    assert "attachment" in answer.headers["content-disposition"]
    assert sum(int(row["clicks"]) for row in rows) == sum(range(1, 13))


async def test_months_equal_the_screen(shared: Shared) -> None:
    shown = await asked(shared.owner, "mine/months", **{"from": "2030-02", "to": "2030-03"})
    rows = await table(shared.owner, by="month", **RANGE)
    assert [{name: str(value) for name, value in month.items()} for month in shown["months"]] == rows
    answer = await shared.owner("GET", "/stats/mine/export", params={"format": "json", "by": "month", **RANGE})
    assert answer.json() == shown


async def test_every_cell_is_a_day_or_a_number_and_so_no_formula(shared: Shared) -> None:
    rows = await table(shared.owner, zone="Asia/Kathmandu", **RANGE)
    assert list(rows[0]) == ["day", *HEADINGS]
    for row in rows:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.pop("day"))
        assert all(re.fullmatch(r"\d*", cell) for cell in row.values())
