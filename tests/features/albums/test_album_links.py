"""Albums as link targets: a visitor sees what is in the album now, and nothing else."""

from collections.abc import AsyncIterator

import pytest

from satchel.features.albums.media_records import MEDIA
from tests.application import Caller, Satchel
from tests.features.albums.given import Given, days, library_of
from tests.features.links.given import given
from tests.media.made_files import jpeg


@pytest.fixture
async def anns(satchel: Satchel, ann: Caller) -> Given:
    library = library_of(satchel, ann, "ann@example.org")
    await library.add(*days("2025-07", range(1, 11)))
    return library


async def linked(ann: Caller) -> tuple[str, str]:
    """The path of an album, and that of a link to it."""
    body = {"name": "Sea", "start": "2025-07-03", "end": "2025-07-06"}
    album_id = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
    link = await given(ann, "album", album_id)
    return f"/albums/{album_id}", f"/open/{link['address'].rpartition('/')[2]}"


async def _bytes(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def test_a_visitor_of_a_link_sees_what_is_in_the_album_now(satchel: Satchel, ann: Caller, anns: Given) -> None:
    album, link = await linked(ann)
    visitor = satchel.caller("192.0.2.1")
    landing = (await visitor("GET", link)).json()
    assert (landing["kind"], landing["name"], landing["files"], landing["size_bytes"]) == ("album", "Sea", 3, 3000)
    entered = (await visitor("POST", f"{link}/enter", json={})).json()
    files = entered["listing"]["files"]
    assert [file["name"][:29] for file in files] == [f"2025-07-0{day}_12-00-00_IMG_0001_" for day in (3, 4, 5)]
    pages = {"pass": entered["pass"], "limit": 2}
    first = (await visitor("GET", f"{link}/files", params=pages)).json()
    rest = (await visitor("GET", f"{link}/files", params={**pages, "cursor": first["cursor"]})).json()
    assert [*first["files"], *rest["files"]] == files
    assert (len(first["files"]), rest["cursor"]) == (2, None)
    for limit in (0, 1001, "many"):
        assert (await visitor("GET", f"{link}/files", params={**pages, "limit": limit})).status_code == 422
    # Somebody else's are not in it.
    others = [media_id for media_id in anns.medias if media_id not in {file["file_id"] for file in files}]
    params = {"pass": entered["pass"]}
    missing = await visitor("GET", f"{link}/files/{others[0]}/content", params=params)
    assert missing.status_code == 404
    row = await MEDIA.get(satchel.stores.tables, owner=ann.user_id, media_id=files[0]["file_id"])
    assert row is not None
    await satchel.stores.objects.put(row.key, _bytes(jpeg().ljust(1000, b"\0")), content_type="image/jpeg")
    there = await visitor("GET", f"{link}/files/{files[0]['file_id']}/content", params=params)
    assert (there.status_code, len(there.content)) == (200, 1000)
    # It has moved away since.
    await ann("PATCH", album, json={"start": "2025-07-04"})
    gone = await visitor("GET", f"{link}/files/{files[0]['file_id']}/content", params=params)
    assert gone.status_code == 404
    await ann("DELETE", album)
    assert (await visitor("GET", link)).status_code in (404, 410)


async def test_a_plan_says_that_a_public_link_newly_shows_medias(ann: Caller, anns: Given) -> None:
    del anns
    album, _ = await linked(ann)
    change = {"kind": "change", "album_id": album.rpartition("/")[2], "end": "2025-07-08"}
    plan = (await ann("POST", "/albums/plan", json={"change": change})).json()
    assert [(move["medias"], move["links"]) for move in plan["moves"]] == [(2, 1)]
