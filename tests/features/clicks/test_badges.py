"""A public counter that anybody can look at, that counts nothing, and that tells nothing but its number."""

from xml.etree import ElementTree

import pytest

from satchel.features.clicks.routes.badges import draw, shortened
from tests.application import Caller, Satchel
from tests.features.clicks.given_link import Shared, asked, shared_by
from tests.features.links.given import changed

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
async def shared(satchel: Satchel, bob: Caller) -> Shared:
    made = await shared_by(satchel, bob)
    await made.click("visitor:a", count=1234)
    await made.click("visitor:a", "download")
    return made


async def badge(shared: Shared) -> str:
    """Its path below the API."""
    address: str = (await changed(shared.owner, shared.link, badge=True))["badge_address"]
    return "/badges/" + address.rpartition("/")[2]


async def test_anybody_sees_how_often_a_link_was_opened(satchel: Satchel, shared: Shared) -> None:
    answer = await satchel.caller()("GET", await badge(shared))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["cache-control"] == "public, max-age=60"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    drawn = ElementTree.fromstring(answer.text)
    title = drawn.find(f"{SVG}title")
    assert title is not None
    assert title.text == drawn.get("aria-label") == "opened 1,234 times"
    assert [each.text for each in drawn.iter(f"{SVG}text")] == ["opened", "1.2k"]
    assert shared.link["token"] not in answer.text
    assert shared.link["link_id"] not in answer.text


async def test_looking_counts_nothing(satchel: Satchel, shared: Shared) -> None:
    before = await asked(shared.owner, "mine/summary")
    path = await badge(shared)
    for _ in range(3):
        await satchel.caller()("GET", path)
    assert await asked(shared.owner, "mine/summary") == before


async def test_a_badge_that_was_switched_off_or_never_on_is_not_there(satchel: Satchel, shared: Shared) -> None:
    path = await badge(shared)
    await changed(shared.owner, shared.link, badge=False)
    for missing in (path, "/badges/x", f"/badges/{shared.link['link_id']}", "/badges/" + "x" * 3000):
        assert (await satchel.caller()("GET", missing)).status_code == 404


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1.2k"),
        (1999, "1.9k"),
        (9999, "9.9k"),
        (10_000, "10k"),
        (45_678, "45k"),
        (999_999, "999k"),
        (3_456_789, "3.4M"),
        (2_000_000_000, "2B"),
    ],
)
def test_numbers_are_short_and_never_more_than_there_were(number: int, expected: str) -> None:
    assert shortened(number) == expected
    drawn = ElementTree.fromstring(draw(number))
    widths = [float(each.get("textLength", "0")) for each in drawn.iter(f"{SVG}text")]
    assert all(width > 0 for width in widths)
    assert float(drawn.get("width", "0")) > sum(widths)


def test_one_time_is_said_as_one() -> None:
    assert "opened 1 time<" in draw(1)
