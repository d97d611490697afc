"""What became of what was shared, in a real browser: live, on the right day, by keyboard, and the same everywhere."""

import csv
import json
import re
from collections import Counter
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DESKTOP, NARROW, OpenPage, Serve, sign_in
from tests.browser.test_pages import complaints_of_axe
from tests.browser.test_transfers import Holder
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

KINDS = ("open", "view", "download", "upload", "press")
KATHMANDU = "Asia/Kathmandu"  # a quarter of an hour off every whole one


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path) -> Generator[ServerProcess]:
    with serve(data, "--sign-up", "open") as running:
        yield running


@pytest.fixture(scope="module")
def ann(server: ServerProcess) -> Holder:
    """The first with an account is an administrator, who may send clicks of anybody."""
    return Holder(server, "Ann")


@pytest.fixture(scope="module")
def bob(ann: Holder, server: ServerProcess) -> Holder:
    return Holder(server, "Bob")


def give_link(holder: Holder, name: str) -> str:
    file_id = holder.put(f"{name}.txt", b"words")
    return holder.ask("POST", "/links", json={"thing": {"kind": "file", "id": file_id}, "name": name})["link_id"]


def click(holder: Holder, link_id: str, *clicks: dict[str, Any]) -> None:
    holder.ask("POST", "/clicks", json=[{"target": link_id, "kind": "open", **each} for each in clicks])


def visit(holder: Holder, link_id: str, *, people: int) -> None:
    """Strangers open the link, each with a browser of their own."""
    token = next(each["token"] for each in holder.ask("GET", "/links")["links"] if each["link_id"] == link_id)
    for number in range(people):
        agent = {"user-agent": f"Mozilla/5.0 (X11; Linux x86_64) Gecko/{number} Firefox/140.0"}
        answer = holder.client.post(f"/api/v1/open/{token}/enter", json={}, headers=agent)
        assert answer.is_success, answer.text


def figure(page: Page, name: str) -> Locator:
    return page.locator(f"[data-figure={name}]")


def panel(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title, level=2)
    return page.locator("section").filter(has=heading)


def show_table(page: Page, title: str) -> dict[str, list[str]]:
    """The cells of each day or month, as they are read on the screen."""
    where = panel(page, title)
    where.get_by_role("button", name="Show as table").click()
    rows = where.locator("tr[data-period]")
    expect(rows.first).to_be_visible()
    cells = "rows => rows.map(row => [row.dataset.period, [...row.cells].slice(1).map(cell => cell.textContent)])"
    return dict(rows.evaluate_all(cells))


def recount(clicks: list[dict[str, Any]], zone: str) -> dict[str, list[str]]:
    """By hand, of the days on which there was anything: clicks, people, and each kind."""
    sums, people, kinds = Counter[str](), dict[str, set[str]](), Counter[tuple[str, str]]()
    for each in clicks:
        day = datetime.fromisoformat(each["createDateTime"]).astimezone(ZoneInfo(zone)).date().isoformat()
        sums[day] += each["clickCount"]
        kinds[day, each["kind"]] += each["clickCount"]
        people.setdefault(day, set()).add(each["userId"])
    return {
        day: [str(number) for number in (sums[day], len(people[day]), *(kinds[day, kind] for kind in KINDS))]
        for day in sums
    }


def some_clicks() -> Iterator[dict[str, Any]]:
    """Of the last 46 hours, one every two, by a few people in turn."""
    now = datetime.now(UTC)
    for number in range(24):
        yield {
            "userId": f"visitor {number % 5}",
            "createDateTime": (now - timedelta(hours=2 * number)).isoformat(),
            "clickCount": 1 + number % 3,
            "kind": KINDS[number % 3],
        }


def saved(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path().read_text(encoding="utf-8")


def test_the_first_click_and_those_after_it_appear_while_one_looks(bob: Holder, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page, bob.email)
    page.get_by_role("navigation").get_by_role("link", name="Activity").first.click()
    expect(page.get_by_role("heading", name="Nothing has been opened yet")).to_be_visible()
    link_id = give_link(bob, "For Carol")
    click(bob, link_id, {"kind": "press"})
    expect(figure(page, "total")).to_have_text("1")
    expect(figure(page, "today")).to_have_text("1")
    click(bob, link_id, {"kind": "press", "clickCount": 1233}, {"kind": "press"})
    expect(figure(page, "total")).to_have_text("1,235")
    expect(page.get_by_role("status").filter(has_text="1,235 clicks in total")).to_be_attached()
    expect(figure(page, "today")).to_have_text("1,235")
    expect(panel(page, "Clicks by day").locator("[data-readout]")).to_contain_text("1,235 clicks, 1,235 presses")
    assert panel(page, "Most opened").locator("li a").all_inner_texts() == ["For Carol.txt", "For Carol"]
    page.get_by_role("link", name="For Carol.txt").click()
    expect(page.get_by_role("heading", name="For Carol.txt", level=1)).to_be_visible()
    expect(figure(page, "total")).to_have_text("1,235")
    panel(page, "Links to it").get_by_role("link", name="For Carol").click()
    expect(page.get_by_role("heading", name="For Carol", exact=True, level=1)).to_be_visible()


def test_the_screen_the_exports_and_a_recount_agree(ann: Holder, open_page: OpenPage) -> None:
    link_id, zone = give_link(ann, "Counted twice"), "Europe/Vienna"
    clicks = list(some_clicks())
    click(ann, link_id, *clicks)
    today = datetime.now(ZoneInfo(zone)).date()
    first = today - timedelta(days=9)
    page = open_page(zone=zone)
    sign_in(page, ann.email, at=f"/activity/link:{link_id}?from={first}&to={today}")
    expect(page.get_by_role("heading", name="Counted twice", level=1)).to_be_visible()
    shown = show_table(page, "Clicks by day")
    assert len(shown) == 10
    assert {day: cells for day, cells in shown.items() if cells[0] != "0"} == recount(clicks, zone)
    header, *rows = csv.reader(saved(page, "Download as CSV").splitlines())
    order = [header.index(name) for name in ("clicks", "people", *KINDS)]
    assert {row[0]: [row[place] for place in order] for row in rows} == shown
    exported = json.loads(saved(page, "Download as JSON"))["days"]
    assert {each["day"]: [str(each[name]) for name in ("clicks", "people", *KINDS)] for each in exported} == shown
    assert show_table(page, "The last 53 weeks").items() >= shown.items()
    total = sum(each["clickCount"] for each in clicks)
    expect(figure(page, "total")).to_have_text(str(total))


def test_months_on_the_screen_and_in_the_export_agree(ann: Holder, open_page: OpenPage) -> None:
    link_id = give_link(ann, "By month")
    click(ann, link_id, *some_clicks())
    page = open_page()
    sign_in(page, ann.email, at=f"/activity/link:{link_id}")
    page.get_by_role("link", name="12 months").click()
    shown = show_table(page, "Clicks by month")
    assert len(shown) == 12
    exported = json.loads(saved(page, "Download as JSON"))["months"]
    assert {each["month"]: [str(each[name]) for name in ("clicks", "people", *KINDS)] for each in exported} == shown


def test_clicks_around_midnight_stand_on_the_days_of_whoever_looks(ann: Holder, open_page: OpenPage) -> None:
    midnight = datetime.now(ZoneInfo(KATHMANDU)).replace(hour=0, minute=0, second=0, microsecond=0)
    minute = timedelta(minutes=1)
    link_id = give_link(ann, "Midnight")
    click(ann, link_id, *({"createDateTime": moment.isoformat()} for moment in (midnight - minute, midnight + minute)))
    page = open_page(zone=KATHMANDU)
    sign_in(page, ann.email, at=f"/activity/link:{link_id}?range=7")
    shown = show_table(page, "Clicks by day")
    assert {day: cells[0] for day, cells in shown.items() if cells[0] != "0"} == {
        f"{midnight:%Y-%m-%d}": "1",
        f"{midnight - minute:%Y-%m-%d}": "1",
    }
    # In London it is a quarter past six in the evening.
    page.get_by_label("Time zone").select_option("UTC")
    expect(page).to_have_url(re.compile("zone=UTC"))
    in_utc = show_table(page, "Clicks by day")
    assert {day: cells[0] for day, cells in in_utc.items() if cells[0] != "0"} == {
        f"{midnight.astimezone(UTC):%Y-%m-%d}": "2"
    }


def test_today_so_far_is_compared_with_yesterday_by_the_same_time(ann: Holder, open_page: OpenPage) -> None:
    now = datetime.now(UTC)
    # Wherever it is about noon now, so that an hour more or less is the same day; these zones count the other way.
    zone = f"Etc/GMT{now.hour - 12:+d}" if now.hour != 12 else "Etc/GMT"
    link_id = give_link(ann, "Compared")
    hours_back = {0: 3, 25: 1, 23: 7}
    click(
        ann,
        link_id,
        *(
            {"createDateTime": (now - timedelta(hours=hours)).isoformat(), "clickCount": count}
            for hours, count in hours_back.items()
        ),
    )
    page = open_page()
    sign_in(page, ann.email, at=f"/activity/link:{link_id}?{urlencode({'zone': zone})}")
    expect(figure(page, "today")).to_have_text("3")
    expect(figure(page, "comparison")).to_have_text(re.compile(r"▲\s+2 more than yesterday by 1[12]:\d\d .M \(1\)"))


def test_charts_are_walked_through_by_keyboard_and_read_out(ann: Holder, open_page: OpenPage) -> None:
    link_id = give_link(ann, "Walked")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    click(ann, link_id, {"clickCount": 4}, {"createDateTime": yesterday.isoformat(), "kind": "download"})
    page = open_page(zone="UTC")
    sign_in(page, ann.email, at=f"/activity/link:{link_id}?range=7")
    days = page.get_by_role("slider", name="Clicks by day")
    days.focus()
    expect(days).to_have_attribute("aria-valuetext", re.compile("4 clicks, 4 openings, one person"))
    page.keyboard.press("ArrowLeft")
    expect(days).to_have_attribute("aria-valuetext", re.compile(f"{yesterday:%A, %B} .*one click, one download"))
    expect(days).to_have_attribute("aria-valuenow", "6")
    page.keyboard.press("Home")
    expect(days).to_have_attribute("aria-valuetext", re.compile("0 clicks, 0 people"))
    expect(panel(page, "Clicks by day").locator("[data-readout]")).to_contain_text("0 clicks")
    weeks = page.get_by_role("slider", name="The last 53 weeks")
    weeks.focus()
    page.keyboard.press("ArrowUp")
    expect(weeks).to_have_attribute("aria-valuetext", re.compile("one click, one download"))
    page.keyboard.press("ArrowLeft")
    week_before = yesterday - timedelta(days=7)
    expect(weeks).to_have_attribute("aria-valuetext", re.compile(f"{week_before:%A, %B} {week_before.day}, .*0 clicks"))


def test_what_was_opened_most_stands_first_whatever_else_was_done_with_it(
    server: ServerProcess, open_page: OpenPage
) -> None:
    dan = Holder(server, "Dan")
    opened, pressed = give_link(dan, "Opened"), give_link(dan, "Pressed")
    visit(dan, opened, people=3)
    visit(dan, pressed, people=1)
    click(dan, pressed, {"kind": "press", "clickCount": 9})
    page = open_page()
    sign_in(page, dan.email, at="/activity")
    links = panel(page, "Most opened").get_by_role("list", name="Links").locator("strong")
    expect(links).to_have_text(["3 openings", "one opening"])


def test_the_figures_of_others_and_of_the_site_are_not_for_everybody(
    ann: Holder, bob: Holder, open_page: OpenPage
) -> None:
    link_id = give_link(ann, "Ann's own")
    page = open_page(may_fail=True)
    sign_in(page, bob.email, at="/activity")
    expect(page.get_by_role("link", name="Whole site")).to_have_count(0)
    page.goto("/activity/site")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    page.goto(f"/activity/link:{link_id}")
    expect(page.get_by_role("heading", name="No figures here")).to_be_visible()
    expect(figure(page, "total")).to_have_count(0)
    page = open_page()
    sign_in(page, ann.email, at="/activity")
    page.get_by_role("link", name="Whole site").click()
    expect(page).to_have_url(re.compile("/activity/site"))
    expect(figure(page, "total")).to_be_visible()


def test_an_administrator_sees_the_whole_site_grow(ann: Holder, bob: Holder, open_page: OpenPage) -> None:
    link_id = give_link(bob, "Bob's own")
    page = open_page(locale="en-GB")
    sign_in(page, ann.email, at="/activity/site")
    before = int(figure(page, "total").inner_text().replace(",", ""))
    click(bob, link_id, {"kind": "press", "clickCount": 7})
    expect(figure(page, "total")).to_have_text(f"{before + 7:,}")


def test_the_page_fits_and_can_be_used_by_everybody(ann: Holder, open_page: OpenPage) -> None:
    link_id = give_link(ann, f"Looked at closely, with a name too long for {'any' * 20} phone")
    click(ann, link_id, *some_clicks())
    for dark, path in ((False, "/activity"), (True, f"/activity/link:{link_id}?range=12m&show=view")):
        page = open_page(dark=dark, zone="Europe/Vienna")
        sign_in(page, ann.email, at=path)
        expect(page.get_by_role("slider")).to_have_count(2)
        page.wait_for_load_state("networkidle")
        for size in (NARROW, DESKTOP):
            page.set_viewport_size(size)
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (path, size)
            assert complaints_of_axe(page) == [], (path, size)
        page.get_by_role("button", name="Show as table").last.click()
        page.set_viewport_size(NARROW)
        expect(page.get_by_role("table")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], path
        assert complaints_of_axe(page) == [], path


def test_a_chart_that_is_not_drawn_again_yet_does_not_widen_the_page(ann: Holder, open_page: OpenPage) -> None:
    link_id = give_link(ann, "Turned to portrait")
    click(ann, link_id, *some_clicks())
    page = open_page()
    # Each observer tells the size that it finds first, and nothing of any change after it: the moment before, kept.
    page.add_init_script(
        """window.ResizeObserver = class extends ResizeObserver {
             constructor(tell) {
               super((entries, own) => {
                 for (const { target } of entries) own.unobserve(target)
                 tell(entries, own)
               })
             }
           }"""
    )
    sign_in(page, ann.email, at=f"/activity/link:{link_id}")
    expect(page.get_by_role("slider")).to_have_count(2)
    page.set_viewport_size(NARROW)
    drawn = panel(page, "Clicks by day").get_by_role("slider").bounding_box()
    assert drawn is not None
    assert drawn["width"] > NARROW["width"], "the chart was drawn again, so that this shows nothing"
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
