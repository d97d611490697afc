"""What others open, look at and download is counted for the owner, by album and by photo."""

from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import sent
from tests.features.albums.test_photo_access import given_album
from tests.media.given import make_pictures
from tests.media.samples import taken

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def figures(owner: Caller, scope: str) -> dict[str, Any]:
    answer = await owner("GET", f"/stats/{scope}/summary")
    total: dict[str, Any] = answer.json()["total"] if answer.is_success else {}
    return {kind: total[kind] for kind in ("open", "view", "download") if total.get(kind)}


async def test_openings_views_and_downloads_of_others_count(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, taken("2024:01:31 12:00:00"))
    await make_pictures(satchel)
    path = f"/photos/{ann.user_id}/{media_id}"
    for caller in (ann, bob, bob):
        await caller("GET", f"/albums/{album_id}/medias")
        await caller("GET", f"{path}/picture/grid/1")
    album, seen = f"thing:album:{album_id}", f"thing:photo:{media_id}"
    assert ((await figures(ann, album)), (await figures(ann, seen))) == ({"open": 1}, {})
    for headers in ({"purpose": "prefetch"}, {"sec-purpose": "Prefetch;prerender"}, {"x-moz": "prefetch"}):
        for way in ("picture/preview/1", "preview"):
            ahead = await bob("GET", f"{path}/{way}", headers=headers)
            # The browser keeps it, and asks before it shows it.
            assert (ahead.status_code, ahead.headers["cache-control"]) == (200, "private, no-cache")
    assert (await figures(ann, seen)) == {}
    for caller in (ann, bob, bob):
        await caller("GET", f"{path}/picture/preview/1")
        await caller("GET", f"{path}/preview")
    assert [await figures(ann, each) for each in (album, seen, "mine")] == [
        {"open": 1, "view": 1},
        {"view": 1},
        {"open": 1, "view": 1},
    ]
    assert (await bob("GET", f"{path}/content", headers={"range": "bytes=-1"})).status_code == 206
    assert (await figures(ann, seen)) == {"view": 1}
    for caller in (ann, bob):
        assert (await caller("GET", f"{path}/content")).is_success
        assert (await caller("GET", f"/albums/{album_id}/archive")).is_success
    assert (await figures(ann, seen)) == {"view": 1, "download": 1}
    assert (await figures(ann, album)) == {"open": 1, "view": 1, "download": 2}
    assert (await figures(bob, album)) == {}


async def test_a_photo_that_nobody_has_looked_at_has_figures_for_its_owner_alone(ann: Caller, bob: Caller) -> None:
    await given_album(ann, "bob@example.org")
    scope = f"thing:photo:{await sent(ann, taken('2024:01:31 12:00:00'))}"
    answer = await ann("GET", f"/stats/{scope}/summary")
    assert (answer.status_code, answer.json()["total"]["clicks"]) == (200, 0)
    assert (await bob("GET", f"/stats/{scope}/summary")).status_code == 404
    for missing in ("thing:photo:x", "thing:photo:", f"{scope}x", f"thing:photo:{'A' * 400}"):
        assert (await ann("GET", f"/stats/{missing}/summary")).status_code == 404


async def test_what_was_fetched_ahead_counts_when_the_browser_asks_whether_it_may_show_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    await given_album(ann, "bob@example.org")
    media_id = await sent(ann, taken("2024:01:31 12:00:00"))
    await make_pictures(satchel)
    path = f"/photos/{ann.user_id}/{media_id}/picture/preview/1"
    kept = await bob("GET", path, headers={"purpose": "prefetch"})
    again = {"if-none-match": kept.headers["etag"]}
    for headers, cache, views in (
        ({"purpose": "prefetch"}, "private, no-cache", {}),
        ({}, "private, max-age=31536000, immutable", {"view": 1}),
    ):
        answer = await bob("GET", path, headers=again | headers)
        assert (answer.status_code, answer.headers["cache-control"]) == (304, cache)
        assert await figures(ann, f"thing:photo:{media_id}") == views
