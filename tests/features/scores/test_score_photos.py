"""Photos of pages are cropped and levelled. The photo stays, so that the page can go back to it."""

from pathlib import Path

from tests.application import Caller, running_satchel
from tests.features.scores.given import created, paged, read, sent, slug, upload, with_pages
from tests.media.made_scores import page_photo
from tests.media.samples import jpeg


async def test_a_photo_is_straightened_once_and_stays(ann: Caller, bob: Caller) -> None:
    score = await created(ann)
    path = f"/scores/{score['score_id']}"
    await sent(ann, page_photo(), "photo.jpg", score=score["score_id"])
    (page,) = (await read(ann, score))["pages"]
    photo = page["item"]["item_id"]
    assert page["item"]["photo_id"] is None
    made = (await ann("POST", f"{path}/items/{photo}/straighten")).json()
    assert (made["photo_id"], made["item_id"] != photo, made["name"]) == (photo, True, "photo.jpg")
    # Nothing is made twice, and no page has changed by it.
    assert (await ann("POST", f"{path}/items/{photo}/straighten")).json()["item_id"] == made["item_id"]
    assert len((await ann("GET", f"{path}/items")).json()["items"]) == 2
    assert (await read(ann, score))["pages"][0]["item"]["item_id"] == photo
    for shown, of in ((made["item_id"], photo), (photo, None)):
        answer = await paged(ann, score, {"page_id": page["page_id"], "item_id": shown})
        (now,) = answer.json()["pages"]
        assert (now["item"]["item_id"], now["item"]["photo_id"]) == (shown, of)
        assert (await ann("GET", f"{path}/items/{shown}/content")).status_code == 200

    await ann("PUT", f"{path}/shares/bob@example.org", json={"role": "marker"})
    assert (await bob("POST", f"{path}/items/{photo}/straighten")).status_code == 403
    assert slug(await ann("POST", f"{path}/items/nothing/straighten")) == "item-unknown"


async def test_what_is_level_stays_and_a_full_quota_refuses(ann: Caller, tmp_path: Path) -> None:
    score = await with_pages(ann, 1)
    item = score["pages"][0]["item"]["item_id"]
    answer = await ann("POST", f"/scores/{score['score_id']}/items/{item}/straighten")
    assert answer.json()["item_id"] == item
    notes = await sent(ann, b"X:1\nT:Air\nK:C\nCDEF|", "air.abc", score=score["score_id"])
    answer = await ann("POST", f"/scores/{score['score_id']}/items/{notes}/straighten")
    assert (answer.status_code, answer.json()["field"]) == (422, "item_id")

    photo = page_photo()
    async with running_satchel(tmp_path / "small", sign_up="open", score_quota=len(photo)) as satchel:
        eve = satchel.caller()
        await eve.sign_up("eve@example.org")
        full = await created(eve)
        # Exactly the quota fits, and not a byte more.
        kept = await sent(eve, photo, "photo.jpg", score=full["score_id"])
        assert slug(await eve("POST", f"/scores/{full['score_id']}/items/{kept}/straighten")) == "scores-full"
        assert len((await eve("GET", f"/scores/{full['score_id']}/items")).json()["items"]) == 1
        refused = await upload(eve, jpeg(), score=full["score_id"])
        assert refused.status_code == 507
