"""Pictures of files in a real browser: small in lists, larger when looked at, and kept by the browser."""

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.shelf.conftest import Shelf
from tests.browser.shelf.listing import is_true, open_entry, row
from tests.media import samples

pytestmark = [pytest.mark.services, pytest.mark.without_service_worker]

PHOTOS = 8
MOST_BYTES = 300_000


class Traffic:
    """What a page has loaded from the API."""

    def __init__(self, page: Page) -> None:
        self.answers: list[Response] = []
        page.on("response", lambda answer: self.answers.append(answer) if "/api/" in answer.url else None)

    def bytes(self) -> int:
        """Bodies and headers that came over the network; what the browser had kept is none."""
        sizes = [answer.request.sizes() for answer in self.answers if not answer.from_service_worker]
        return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)

    def paths(self) -> list[str]:
        return [answer.url.partition("/api/v1")[2] for answer in self.answers]


def photos_in(shelf: Shelf, name: str) -> str:
    here = shelf.folder(name)
    for number in range(PHOTOS):
        content = samples.photo(number)
        assert 4_000_000 < len(content) < 5_000_000
        shelf.put(f"photo {number}.jpg", content, here, "image/jpeg")
    return here


def all_shown(page: Page, count: int) -> None:
    """Every picture, not its placeholder."""
    page.wait_for_function(
        """count => {
          const pictures = [...document.querySelectorAll('.thumbnail img:not(.placeholder)')];
          return pictures.length === count && pictures.every((each) => each.complete && each.naturalWidth > 0);
        }""",
        arg=count,
    )


def test_a_folder_of_photos_loads_little_and_again_nothing(page: Page, shelf: Shelf) -> None:
    here = photos_in(shelf, "Holidays")
    page.goto("/shelf")
    page.get_by_role("button", name="Show as grid").click()
    # The first visit waits for the pictures to be made, as somebody does who has just uploaded them.
    page.goto(f"/shelf/{here}")
    expect(row(page, "photo 0.jpg")).to_be_visible()
    all_shown(page, PHOTOS)
    page.goto("/shelf")
    expect(row(page, "Holidays")).to_be_visible()
    # Another browser, which has kept nothing.
    fresh = page.context.browser
    assert fresh is not None
    other = fresh.new_context(base_url=page.url.partition("/shelf")[0], storage_state=page.context.storage_state())
    visit = other.new_page()
    traffic = Traffic(visit)
    visit.goto(f"/shelf/{here}")
    all_shown(visit, PHOTOS)
    assert len([path for path in traffic.paths() if "/picture/grid/" in path]) == PHOTOS
    assert not [path for path in traffic.paths() if path.endswith(("/preview", "/content"))]
    loaded = traffic.bytes()
    print(f"{PHOTOS} photos: {loaded} bytes")
    assert loaded < MOST_BYTES
    # A placeholder was there before each of them.
    expect(visit.locator(".thumbnail img.placeholder")).to_have_count(PHOTOS)
    # They may be kept, so for a second look nothing comes over the network.
    visit.goto("/shelf")
    visit.goto(f"/shelf/{here}")
    all_shown(visit, PHOTOS)
    transferred = visit.evaluate(
        "() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/picture/'))"
        ".map(({ transferSize }) => transferSize)"
    )
    assert transferred == [0] * PHOTOS
    other.close()


def test_a_photo_is_looked_at_small_first_and_as_it_is_when_asked(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("One photo")
    shelf.put("photo.jpg", samples.photo(), here, "image/jpeg")
    page.goto(f"/shelf/{here}")
    all_shown(page, 1)
    traffic = Traffic(page)
    open_entry(page, "photo.jpg")
    viewer = page.get_by_role("dialog")
    is_true(viewer.get_by_role("img", name="photo.jpg"), "each => each.naturalWidth === 1440")
    assert not [path for path in traffic.paths() if path.endswith("/preview")]
    viewer.get_by_role("button", name="Show the original").click()
    is_true(viewer.get_by_role("img", name="photo.jpg"), "each => each.naturalWidth === 4000")
    viewer.get_by_role("button", name="Fit to the window").click()
    is_true(viewer.get_by_role("img", name="photo.jpg"), "each => each.naturalWidth === 1440")


def test_a_document_a_video_and_a_photo_of_a_phone_have_pictures(page: Page, shelf: Shelf) -> None:
    here = shelf.folder("All kinds")
    shelf.put("page.pdf", samples.pdf(), here, "application/pdf")
    shelf.put("film.mp4", samples.video(), here, "video/mp4")
    shelf.put("phone.heic", samples.heic(), here, "image/heic")
    shelf.put("notes.txt", b"words", here, "text/plain")
    page.goto(f"/shelf/{here}")
    all_shown(page, 3)
    open_entry(page, "phone.heic")
    is_true(page.get_by_role("dialog").get_by_role("img", name="phone.heic"), "each => each.naturalWidth === 1200")
