"""Figures in a terminal: where things stand, charts, clicks one by one, and looking after them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists

from satchel.cli.engine.terminal.output import Misused
from satchel.cli.stats.chart import chart
from satchel.cli.stats.periods import day_of, local_zone, moment_of, month_of
from tests.application import PASSWORD
from tests.cli.terminal import AtOnce, Person, explains
from tests.cli.test_put_get import fill, objects
from tests.cli.test_rooms import sign_up
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow

PRESSES = 1200


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory, server: ServerProcess) -> Person:
    """The first to sign up, who therefore administers the server."""
    person = Person(tmp_path_factory.mktemp("admin"))
    signup = ("signup", "--server", server.url, "--email", "ann@example.org", "--name", "Ann")
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    return person


@pytest.fixture
def member(admin: Person, bob: Person, server: ServerProcess) -> Person:
    """Somebody who came after them."""
    assert admin.home != bob.home
    sign_up(bob, server, "Bob")
    return bob


@pytest.fixture
def sharer(member: Person) -> Person:
    """Somebody with a file on their shelf."""
    fill(member.home / "song.txt", 100)
    assert member.run("put", "song.txt", "--quiet").code == 0
    return member


def linked(person: Person) -> Any:
    ran = person.run("link", "song.txt", "--json")
    assert ran.code == 0, ran
    return ran.json


def total(person: Person) -> int:
    return person.run("stats", "total", "--json").json["totalClicks"]


def test_figures_tell_of_a_link_a_thing_and_all_that_one_shares(sharer: Person, ann: Person) -> None:
    link = linked(sharer)
    assert ann.run("get", link["address"]).code == 0
    for scope in ("mine", link["address"], link["link_id"][-8:], "song.txt"):
        told = sharer.run("stats", scope, "--json", "--zone", "Asia/Kathmandu").json
        assert len(told["days"]) == 30
        for figures in (told["summary"]["total"], told["summary"]["today"], told["days"][-1]):
            assert [figures[name] for name in ("clicks", "people", "open", "download")] == [2, 1, 1, 1]
    out = sharer.run("stats", "--zone", "UTC").out
    assert "in all     2 clicks  by 1 person" in out
    assert "1 opened, 1 downloaded" in out
    assert "yesterday by this time: 0 (+2)" in out
    assert out.splitlines()[-1].split()[:6] == ["song.txt", "1", "×", "1", "person", "1"]
    assert "Things opened most" not in out
    told = sharer.run("stats", "--json", "--zone", "Asia/Kathmandu").json
    heading, *rows = sharer.run("stats", "--csv", "--zone", "Asia/Kathmandu").out.splitlines()
    assert [row.split(",") for row in rows] == [[str(day[name]) for name in heading.split(",")] for day in told["days"]]
    months = sharer.run("stats", "--by", "month", "--from", "2026-01", "--to", "2026-03", "--json").json["months"]
    assert [month["month"] for month in months] == ["2026-01", "2026-02", "2026-03"]


def test_in_a_terminal_there_is_a_chart_that_fits_and_from_a_pipe_a_table(sharer: Person) -> None:
    link = linked(sharer)
    assert sharer.run("stats", "press", "--link", link["link_id"], "--count", "7").code == 0
    out = sharer.run_in_terminal("stats", "--zone", "UTC").out
    assert "█" in out
    assert "\x1b[" in out
    plain = sharer.run_in_terminal("stats", "--from", "2026-01-01", "--to", "2026-12-31", NO_COLOR="1").out
    assert "\x1b[" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    assert "Each column is 5 days." in plain
    table = sharer.run("stats", "--zone", "UTC").out
    assert "█" not in table
    heading, today, left_out = table.split("\n\n")[2].splitlines()
    assert heading.split()[:3] == ["day", "clicks", "people"]
    assert today.split() == [f"{datetime.now(UTC):%Y-%m-%d}", "7", "1", *"0000", "7"]
    assert left_out == "Of 30 days, those without clicks are left out."
    assert (
        "No clicks from 2026-01 to 2026-03."
        in sharer.run("stats", "--by", "month", "--from", "2026-01", "--to", "2026-03").out
    )


def test_where_nothing_was_counted_that_is_all_there_is_to_say(sharer: Person) -> None:
    for scope in ("mine", "song.txt"):
        for ran in (sharer.run("stats", scope), sharer.run_in_terminal("stats", scope, NO_COLOR="1")):
            assert "Nothing was counted yet." in ran.out
            assert len(ran.out.splitlines()) == 3


def test_of_what_nobody_has_there_are_no_figures(sharer: Person) -> None:
    for scope in ("thing:file:01unknown", "thing:unknown", "link:unknown"):
        assert explains(sharer.run("stats", scope), 1, "You have no such thing.")


def test_many_clicks_from_a_file_count_once_though_they_are_sent_twice(admin: Person) -> None:
    before = total(admin)
    lines = "".join(f'{{"label": "press {number}"}}\n' for number in range(PRESSES))
    broken = admin.run("stats", "press", "--file", "-", typed=lines[:-3])
    assert broken.code == 1
    assert f"Line {PRESSES} is not a click" in broken.err
    key = re.search(r"1,000 clicks were recorded. Run it again with --key (\w+)", broken.err)
    assert key, broken
    (admin.home / "presses.jsonl").write_text(lines)
    ran = admin.run("stats", "press", "--file", "presses.jsonl", "--key", key[1])
    assert ran.out == f"Recorded {PRESSES - 1000:,} clicks. 1,000 were recorded before.\n"
    assert total(admin) - before == PRESSES
    assert len(objects(admin.run("stats", "clicks", "--limit", "1100", "--json").out)) == 1100


def test_a_line_that_is_no_click_is_named_and_what_stood_with_it_is_not_recorded(admin: Person) -> None:
    before = total(admin)
    assert explains(admin.run("stats", "press", "--file", "-", typed="{}\n{nothing\n"), 1, "Line 2")
    typed = '{}\n{"clickCount": -1}\n'
    assert explains(admin.run("stats", "press", "--file", "-", typed=typed), 1, "lines 1 to 2", "clickCount")
    assert explains(admin.run("stats", "press", "--file", "absent"), 1, "absent")
    assert explains(admin.run("stats", "press", "--at", "2020-01-01"), 1, "48 hours")
    assert total(admin) == before


def test_clicks_are_listed_by_person_by_time_and_by_day(admin: Person) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    at = yesterday.isoformat(timespec="milliseconds")
    press = ("stats", "press", "--user", "somebody else", "--at", at, "--count", "3", "--label", "earlier", "--json")
    (recorded,) = objects(admin.run(*press).out)
    assert recorded["userId"] == "somebody else"
    between = ("--from", at, "--to", at)
    (click,) = objects(admin.run("stats", "clicks", "--user", "somebody else", *between, "--json").out)
    assert (click["createDateTime"], click["clickCount"]) == (recorded["createDateTime"], 3)
    assert click["recordSort"] == f"CLICK#{recorded['createDateTime']}#somebody else"
    (line,) = admin.run("stats", "clicks", "--day", f"{yesterday:%Y-%m-%d}").out.splitlines()
    assert line.split() == [recorded["createDateTime"], "somebody", "else", "3", "press", "earlier"]
    assert admin.run("stats", "day", f"{yesterday:%Y-%m-%d}").out == f"{yesterday:%Y-%m-%d}: 3 clicks by 1 person\n"
    month = admin.run("stats", "month", f"{yesterday:%Y-%m}", "--json").json
    assert (month["userId"], month["createDateTime"]) == ("STAT#MONTHLY", f"{yesterday:%Y-%m}")
    assert month["totalClicks"] >= 3


def test_a_period_is_counted_again_and_a_person_erased_only_after_asking(admin: Person) -> None:
    assert admin.run("stats", "press", "--user", "gone", "--count", "4").code == 0
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert f"{today} was correct: " in admin.run("stats", "rebuild", today).out
    rebuilt = admin.run("stats", "rebuild", today[:7], "--json").json
    assert rebuilt["before"] == rebuilt["after"]
    before = total(admin)
    assert explains(admin.run("stats", "erase", "gone"), 2, "--yes")
    declined = admin.run_in_terminal("stats", "erase", "gone", answers=[("[y/N]", "n\n")])
    assert declined.code == 1
    assert "Nothing was done." in declined.out
    erased = admin.run_in_terminal("stats", "erase", "gone", answers=[("[y/N]", "y\n")])
    assert "Erased 1 click." in erased.out
    assert admin.run("stats", "erase", "ann@example.org", "--yes", "--json").code == 0
    assert admin.run("stats", "clicks").out == ""
    assert total(admin) == before


def test_what_cannot_be_told_is_one_sentence(member: Person) -> None:
    assert explains(member.run("stats", "site"), 1, "administrator")
    assert explains(member.run("stats", "nothing.txt"), 1, "nothing.txt", "satchel ls")
    assert explains(member.run("stats", "--zone", "Mars/Base"), 1, "Mars/Base")
    assert explains(member.run("stats", "clicks", "--day", "2026-11-16"), 1)
    assert explains(member.run("stats", "erase", "somebody", "--yes"), 1, "administrators")


def test_what_cannot_be_meant_is_said_before_a_server_is_asked(at_once: AtOnce) -> None:
    assert explains(at_once("stats", "--by", "week"), 2, "--by")
    assert explains(at_once("stats", "--from", "yesterday"), 2, "'yesterday'")
    assert explains(at_once("stats", "--from", "2026-11-10", "--to", "2026-11-01"), 2, "--from", "earlier")
    assert explains(at_once("stats", "clicks", "--day", "2026-11-16", "--user", "x"), 2, "--day")
    assert explains(at_once("stats", "clicks", "--limit", "²"), 2, "--limit")
    assert explains(at_once("stats", "rebuild", "2026"), 2, "2026-11-16")
    assert explains(at_once("stats", "press", "--count", "0"), 2, "--count", "from 1 to")
    assert explains(at_once("stats", "press", "--kind", "kick"), 2, "'kick'", "download or upload")
    assert explains(at_once("stats", "press", "--file", "-", "--label", "x"), 2, "--file")


@given(lists(integers(0, 10**6), min_size=1, max_size=400), integers(20, 200))
def test_a_chart_fits_its_width_and_shows_whatever_is_not_nothing(counts: list[int], width: int) -> None:
    drawn = list(chart([(f"2026-{1 + place % 12:02}-01", count) for place, count in enumerate(counts)], width, "days"))
    *rows, lowest, labels = [line for line in drawn if "Each column" not in line]
    assert all(len(line) <= width for line in (*rows, lowest, labels))
    assert any(block in lowest for block in "▁▂▃▄▅▆▇█") == any(counts)


def test_periods_are_read_as_they_are_written_and_nothing_else_is() -> None:
    assert (day_of("2024-02-29"), month_of("2026-11"), month_of("2026-11-16")) == ("2024-02-29", "2026-11", "2026-11")
    for read, written in ((day_of, "2026-02-29"), (day_of, "2026-11"), (month_of, "2026-13"), (month_of, "x")):
        with pytest.raises(Misused):
            read(written)
    assert moment_of("2026-11-16T18:00+01:00") == "2026-11-16T17:00:00.000+00:00"
    assert moment_of("2026-11-16") < moment_of("2026-11-16", end=True)
    for written in ("noon", "0001-01-01T00:00+23:00", "9999-12-31T23:59-23:00"):
        with pytest.raises(Misused):
            moment_of(written)


@pytest.mark.parametrize(
    ("told", "zone"), [("Asia/Kathmandu", "Asia/Kathmandu"), (":Europe/Berlin", "Europe/Berlin"), ("Etc/UTC", "UTC")]
)
def test_the_zone_is_that_of_the_machine(monkeypatch: pytest.MonkeyPatch, told: str, zone: str) -> None:
    monkeypatch.setenv("TZ", told)
    assert local_zone() == zone


def test_a_counter_for_a_page_is_made_shown_taken_back_and_deleted(member: Person) -> None:
    made = member.run("counter", "create", "https://shop.example", "--name", "Shop", "--json").json
    assert made["origins"] == ["https://shop.example"]
    assert explains(member.run("counter", "create", "*"), 1, "Give the address of each site")
    out = member.run("counter", "show", "Shop").out
    assert made["lines"] in "\n".join(line.strip() for line in out.splitlines()).replace("\ncross", "\n  cross")
    assert f"script-src {made['script'].removesuffix('/counter/1.js')}" in out
    assert "Viewed 0 times, pressed 0 times, by 0 people." in out
    assert [each["name"] for each in member.run("counter", "--json").json["counters"]] == ["Shop"]
    assert member.run("counter", "list").out.splitlines()[-1].split() == [
        "Shop",
        "0",
        "0",
        "0",
        made["counter_id"][-8:],
    ]
    assert member.run("stats", f"counter:{made['counter_id']}", "--json").json["summary"]["total"]["clicks"] == 0
    between = ("--from", "2026-01-01T10:00", "--to", "2026-01-02T10:00")
    assert member.run("counter", "undo", "Shop", *between, "--json").json == {"taken_back": 0}
    assert explains(member.run("counter", "undo", "Shop", "--from", "x", "--to", "y"), 2, "--from takes a time")
    assert member.run("counter", "rm", made["counter_id"][-8:]).out == "Deleted the counter Shop.\n"
    assert explains(member.run("counter", "show", "Shop"), 1, "You have no counter Shop.")
