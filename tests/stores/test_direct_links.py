"""Links by which clients reach a bucket themselves."""

from datetime import timedelta

import httpx
import pytest

from satchel.config import Settings
from satchel.setup_check import Flaw, page_checks
from satchel.stores.object_rules import direct_links
from satchel.stores.ports.direct_links import DirectLinks
from satchel.stores.ports.objects import Objects
from tests.stores.harnesses_objects import CHECKS_SIGNATURES, ObjectsHarness, content, stream

pytest_plugins = ("tests.stores.fixtures_objects",)
pytestmark = pytest.mark.asyncio(loop_scope="module")
HOUR = timedelta(hours=1)


@pytest.fixture
def links(objects: Objects) -> DirectLinks | None:
    return direct_links(objects)


async def test_a_link_to_a_part_takes_just_that_part(
    objects_harness: ObjectsHarness, objects: Objects, links: DirectLinks | None, place: str
) -> None:
    if links is None:
        return  # the folder, whose bytes come through the server
    upload = await objects.begin(place + "x")
    link = await links.to_part(place + "x", upload, 1, 5, HOUR)
    assert link.startswith(links.origin)
    async with httpx.AsyncClient() as client:
        if CHECKS_SIGNATURES in objects_harness.promises:
            assert (await client.put(link, content=b"123456")).status_code == 403
        assert (await client.put(link, content=b"12345")).status_code == 200
    parts = await objects.parts(place + "x", upload)
    assert [(part.number, part.size_bytes) for part in parts] == [(1, 5)]
    await objects.complete(place + "x", upload, parts)
    assert await content(objects, place + "x") == b"12345"


async def test_a_link_to_read_says_how_to_treat_the_bytes(
    objects: Objects, links: DirectLinks | None, place: str
) -> None:
    if links is None:
        return
    await objects.put(place + "x", stream(b"<script>"), content_type="text/html")
    shown = {"disposition": 'attachment; filename="a.html"', "content_type": "text/plain", "cache": "no-store"}
    async with httpx.AsyncClient() as client:
        answer = await client.get(await links.to_read(place + "x", HOUR, **shown))
    assert (answer.status_code, answer.content) == (200, b"<script>")
    found = [answer.headers[name] for name in ("content-disposition", "content-type", "cache-control")]
    assert found == list(shown.values())


async def test_a_bucket_to_which_pages_may_not_send_is_a_warning(
    objects_harness: ObjectsHarness, objects: Objects, links: DirectLinks | None
) -> None:
    """Of these two servers moto lets every page, and rclone none unless it is told to."""
    checks = page_checks(Settings(public_url="https://satchel.example.org"), objects)
    if links is None:
        assert not checks
    elif CHECKS_SIGNATURES not in objects_harness.promises:
        assert await checks[0].attempt() == links.origin
    else:
        with pytest.raises(Flaw, match="may not send to") as flaw:
            await checks[0].attempt()
        assert not flaw.value.refused
        assert "Allow PUT" in flaw.value.fix
