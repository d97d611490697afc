"""The map of where photos were taken: none by default, and one host besides ours if an administrator chose it."""

from pathlib import Path

import pytest

from satchel.config import BadSetting, load_settings
from tests.application import Caller, running_satchel

TILES = "https://tile.example.org/{z}/{x}/{y}.png"


def images_of(policy: str) -> str:
    (images,) = [part.strip() for part in policy.split(";") if part.strip().startswith("img-src ")]
    return images.removeprefix("img-src ")


async def test_there_is_no_map_unless_somebody_chose_one(ann: Caller) -> None:
    assert (await ann("GET", "/photos/map")).json() == {"tiles": None, "attribution": ""}
    page = await ann.http.get("/photos")
    assert images_of(page.headers["content-security-policy"]) == "'self' blob: data:"


async def test_pages_may_load_images_from_exactly_the_host_of_the_map(tmp_path: Path) -> None:
    made_by = "© Somebody https://example.org/terms"
    async with running_satchel(tmp_path, sign_up="open", map_tiles=TILES, map_attribution=made_by) as satchel:
        ann = satchel.caller()
        assert (await ann("GET", "/photos/map")).status_code == 401
        await ann.sign_up("ann@example.org")
        assert (await ann("GET", "/photos/map")).json() == {"tiles": TILES, "attribution": made_by}
        policy = (await ann.http.get("/photos")).headers["content-security-policy"]
        assert images_of(policy) == "'self' blob: data: https://tile.example.org"
        assert policy.count("tile.example.org") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "https://tile.example.org/",
        "ftp://tile.example.org/{z}/{x}/{y}",
        "https://{s}.example.org/{z}/{x}/{y}",
        "https://a b/{z}/{x}/{y}",
        "https://x;script-src/{z}/{x}/{y}",
        "https://user@example.org/{z}/{x}/{y}",
        "//tile.example.org/{z}/{x}/{y}",
    ],
)
def test_a_wrong_address_of_tiles_is_refused(wrong: str) -> None:
    with pytest.raises(BadSetting, match=r"\{z\}/\{x\}/\{y\}"):
        load_settings({"map_tiles": wrong})
