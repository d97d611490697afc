"""What chats show of a link: what anybody may know who has it, and nothing that is counted as a visit."""

import re
from typing import Any

import httpx
import pytest

from tests.application import Caller, Satchel
from tests.features.links.given import changed, given
from tests.features.links.visiting import AGENT, PREVIEWER, counted, figures, visitor
from tests.features.shelf.given import made, uploaded
from tests.media.given import make_pictures
from tests.media.samples import is_flag, jpeg


async def page(satchel: Satchel, path: str, **headers: str) -> httpx.Response:
    sent = {"user-agent": PREVIEWER, **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(satchel.app), base_url="http://satchel.test") as client:
        return await client.get(path, headers=sent)


async def summary(satchel: Satchel, path: str) -> dict[str, str]:
    text = (await page(satchel, path)).text
    tags = dict(re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)" />', text))
    return {**tags, "title": re.findall("<title>(.*)</title>", text)[0]}


@pytest.mark.slow
async def test_a_chat_shows_name_size_and_picture_and_counts_as_a_robot(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, 'Holiday <"2024">')
    await uploaded(satchel, ann, "a.txt", b"text", "text/plain", folder_id)
    await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg", folder_id)
    await make_pictures(satchel)
    link = await given(ann, "folder", folder_id)
    said = await summary(satchel, f"/l/{link['token']}")
    assert said["title"] == said["og:title"] == "Holiday &lt;&quot;2024&quot;&gt;"
    assert re.fullmatch(r"ann shares files with you\. 2 files, \d+(\.\d)? kB", said["og:description"])
    assert said["robots"] == "noindex"
    picture = said["og:image"].removeprefix("http://satchel.test")
    assert is_flag((await page(satchel, picture)).content)
    assert await counted(ann, link) == figures(previews=1)


async def test_before_the_password_and_after_the_end_nothing_is_said(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "secret plans.jpg", jpeg(), "image/jpeg")
    link = await given(ann, "file", file.file_id, password="open sesame")
    said = await summary(satchel, f"/l/{link['token']}")
    assert (said["title"], said["og:description"]) == (
        "Shared with you",
        "ann shares a file with you. It needs a password.",
    )
    assert "og:image" not in said
    assert (await visitor(satchel, link)("GET", "/cover/1")).status_code == 404
    await changed(ann, link, paused=True)
    for path in (f"/l/{link['token']}", "/l/none", "/l/", "/l"):
        assert await summary(satchel, path) == await summary(satchel, "/")


async def test_with_a_limit_of_downloads_there_is_no_picture(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    link = await given(ann, "file", file.file_id, downloads=3)
    said: dict[str, Any] = await summary(satchel, f"/l/{link['token']}")
    assert (said["title"], "og:image" in said) == ("flag.jpg", False)
    assert re.fullmatch(r"ann shares a file with you\. \d+(\.\d)? kB", said["og:description"])


async def test_a_browser_gets_the_page_that_every_address_has(satchel: Satchel, ann: Caller) -> None:
    link = await given(ann, "folder", await made(ann, "Folder"))
    seen = await page(satchel, f"/l/{link['token']}", user_agent=AGENT, sec_fetch_mode="navigate")
    assert seen.text == (await page(satchel, "/")).text


async def test_an_invitation_to_a_room_does_not_tell_whether_there_is_one(satchel: Satchel) -> None:
    assert (await summary(satchel, "/join/QKZPA"))["title"] == "Join a room"
