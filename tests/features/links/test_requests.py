"""Files that somebody asked for by a link: into the right folder, within the limits, and nothing comes back out."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from satchel.edge.uploads.records import UPLOAD
from satchel.features.links.model import MOST_RECEIVED_FILES
from satchel.features.links.records import ARRIVAL, LINK
from satchel.kernel.ids import derived_id
from satchel.stores.ports.expressions import assign
from tests.application import Caller, Satchel, running_satchel
from tests.features.hearing import heard_by
from tests.features.links.given import changed, given, given_folder, read, slug
from tests.features.links.visiting import Visitor, counted, figures, stored, visitor
from tests.features.shelf.given import check_shelf, made, names, uploaded
from tests.features.transfers.given import a_guest
from tests.uploads.given import SENDS, TUS, pairs


async def asked(ann: Caller, **wishes: Any) -> tuple[dict[str, Any], str]:
    folder_id = await made(ann, "Homework")
    return await given(ann, "request", folder_id, **wishes), folder_id


async def entered(satchel: Satchel, link: dict[str, Any], password: str | None = None) -> Visitor:
    someone = visitor(satchel, link)
    await someone.entered(password)
    return someone


async def uploads_counted(ann: Caller, link: dict[str, Any]) -> int:
    answer = await ann("GET", f"/stats/link:{link['link_id']}/summary")
    assert answer.status_code == 200, answer.text
    return answer.json()["total"]["upload"]


async def test_a_stranger_sends_a_file_into_the_folder(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    assert (await someone.upload(b"essay", filename="essay.txt", filetype="text/plain")).status_code == 204
    assert await names(ann, folder_id) == ["essay.txt"]
    (file,) = await check_shelf(satchel, ann)
    assert (file.user_id, file.size_bytes, file.content_type) == (ann.user_id, 5, "text/plain")
    assert await counted(ann, link) == figures(opens=1, people=1)
    assert await uploads_counted(ann, link) == 1
    assert (await read(ann, link))["received_bytes"] == 5


async def test_whoever_asked_hears_of_each_file_once(satchel: Satchel, ann: Caller) -> None:
    link, _ = await asked(ann)
    someone = await entered(satchel, link)
    async with heard_by(satchel.stores.ephemeral, ann.user_id) as hearing:
        await someone.upload(b"essay", filename="essay.txt", uploader="Gus")
        heard = await hearing.until("link.received")
        assert heard == {
            "type": "link.received",
            "link_id": link["link_id"],
            "file_name": "essay.txt",
            "uploader": "Gus",
        }
        await someone.upload(b"more", filename="more.txt")
        assert (await hearing.until("link.received"))["file_name"] == "more.txt"


async def test_guests_members_and_the_owner_can_send_too(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link, folder_id = await asked(ann)
    for number, each in enumerate((await a_guest(satchel, "Gus"), bob, ann)):
        someone = visitor(satchel, link, caller=each)
        await someone.entered()
        assert (await someone.upload(b"x", filename=f"{number}.txt")).status_code == 204
    assert await names(ann, folder_id) == ["0.txt", "1.txt", "2.txt"]
    assert await uploads_counted(ann, link) == 2


async def test_who_says_their_name_has_a_folder_of_their_own(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    for name in ("a.txt", "b.txt"):
        assert (await someone.upload(b"x", filename=name, uploader="Zoë")).status_code == 204
    entries = (await ann("GET", "/shelf/entries", params={"folder": folder_id})).json()["entries"]
    assert [(entry["kind"], entry["name"]) for entry in entries] == [("folder", "Zoë")]
    assert await names(ann, entries[0]["id"]) == ["a.txt", "b.txt"]


async def test_a_folder_that_is_sent_comes_as_a_folder(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    for path in ("Tour/Day 1/a.jpg", "Tour/../b.jpg"):
        name = path.rpartition("/")[2]
        assert (await someone.upload(b"x", filename=name, relativePath=path, uploader="Zoë")).status_code == 204
    assert {(file.folder_id == folder_id, file.name) for file in await check_shelf(satchel, ann)} == {
        (False, "a.jpg"),
        (False, "b.jpg"),
    }
    found = folder_id
    for expected in (["Zoë"], ["Tour"], ["Day 1", "b.jpg"], ["a.jpg"]):
        entries = (await ann("GET", "/shelf/entries", params={"folder": found})).json()["entries"]
        assert [entry["name"] for entry in entries] == expected
        found = entries[0]["id"]


@pytest.mark.parametrize("uploader", ["../../Secret", "/etc", "..", "a/b\\c", "\u202e", "con", " . ", "x" * 300])
async def test_no_name_leads_out_of_the_folder(satchel: Satchel, ann: Caller, uploader: str) -> None:
    await made(ann, "Secret")
    link, folder_id = await asked(ann)
    before = await names(ann)
    someone = await entered(satchel, link)
    for filename in (uploader, f"{uploader}/x.txt", ""):
        assert (await someone.upload(b"x", filename=filename, uploader=uploader)).status_code == 204
    assert await names(ann) == before
    assert len(await check_shelf(satchel, ann)) == 3
    assert await names(ann, folder_id)


async def test_two_files_of_one_name_are_both_kept(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    for content in (b"one", b"two"):
        assert (await (await entered(satchel, link)).upload(content, filename="same.txt")).status_code == 204
    assert sorted(await names(ann, folder_id)) == ["same (1).txt", "same.txt"]


async def test_whoever_sends_sees_and_reads_nothing(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    file = await uploaded(satchel, ann, "hidden.txt", b"secret", folder_id=folder_id)
    someone = await entered(satchel, link)
    assert (await someone.entered())["listing"] is None
    paths = [f"/files/{file.file_id}/content", f"/files/{file.file_id}/preview"]
    for path in ("/files", "/content", "/preview", "/archive", *paths):
        for method in ("GET", "HEAD"):
            answer = await someone(method, path)
            assert answer.status_code == 404, path
            assert b"hidden" not in answer.content


async def test_files_go_only_to_those_who_ask_for_them(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt")
    someone = await entered(satchel, link)
    assert slug(await someone.begin_upload(1, filename="x")) == (404, "link-unknown")


async def test_without_a_good_pass_nothing_is_taken(satchel: Satchel, ann: Caller) -> None:
    link, _ = await asked(ann, password="swordfish")
    someone = visitor(satchel, link)
    for shown in ("", "x", ann.tokens["access_token"]):
        someone.shown = shown
        assert slug(await someone.begin_upload(1, filename="x")) == (403, "link-pass-over")
    someone.shown = ""
    await someone.entered("swordfish")
    assert (await someone.begin_upload(1, filename="x")).status_code == 201
    await changed(ann, link, password="another")
    assert slug(await someone.begin_upload(1, filename="x")) == (403, "link-pass-over")


async def test_tokens_cannot_be_tried_by_sending(satchel: Satchel, ann: Caller) -> None:
    link, _ = await asked(ann)
    await changed(ann, link, paused=True)
    told = {slug(await Visitor(satchel.caller(), token).begin_upload(1)) for token in (link["token"], "A" * 22, "")}
    assert told == {(403, "link-pass-over")}


async def test_who_knows_a_file_does_not_learn_what_was_said_with_its_upload(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    begun = await someone.begin_upload(0, filename="essay.txt", uploader="Gus")
    reader = visitor(satchel, await given(ann, "folder", folder_id))
    (file,) = (await reader.entered())["listing"]["files"]
    assert file["file_id"] not in begun.headers["location"]
    for method in ("GET", "HEAD", "DELETE"):
        assert (await reader.caller(method, f"/uploads/{file['file_id']}", headers=TUS)).status_code == 401


async def test_strangers_reach_no_other_place_and_nobody_elses_upload(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    stranger = satchel.caller()
    for destination in ("shelf", "room", "nowhere", ""):
        metadata = pairs(destination=destination, filename="x")
        begun = await stranger("POST", "/uploads", headers={**TUS, "upload-length": "1", "upload-metadata": metadata})
        assert slug(begun) == (401, "unauthenticated")
    theirs = await bob(
        "POST", "/uploads", headers={**TUS, "upload-length": "1", "upload-metadata": pairs(destination="shelf")}
    )
    address = theirs.headers["location"].removeprefix("/api/v1")
    assert slug(await stranger("GET", address)) == (401, "unauthenticated")
    sent = await stranger("PATCH", address, content=b"x", headers={**SENDS, "upload-offset": "0"})
    assert slug(sent) == (401, "unauthenticated")
    assert (await stranger("DELETE", address, headers=TUS)).status_code == 401


async def test_a_strangers_upload_goes_on_where_it_stopped(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    begun = await someone.begin_upload(6, filename="a.txt")
    address = begun.headers["location"].removeprefix("/api/v1")
    assert (
        await someone.caller("PATCH", address, content=b"abc", headers={**SENDS, "upload-offset": "0"})
    ).status_code == 204
    # Another network, the same address of the upload: it is all that is asked for.
    elsewhere = satchel.caller("198.51.100.9")
    looked = await elsewhere("HEAD", address, headers=TUS)
    assert looked.headers["upload-offset"] == "3"
    assert (
        await elsewhere("PATCH", address, content=b"def", headers={**SENDS, "upload-offset": "3"})
    ).status_code == 204
    assert await names(ann, folder_id) == ["a.txt"]


async def test_a_key_repeats_an_upload_under_the_same_pass_only(satchel: Satchel, ann: Caller) -> None:
    link, _ = await asked(ann)
    one, other = await entered(satchel, link), await entered(satchel, link)

    async def begin(someone: Visitor) -> str:
        metadata = pairs(destination="link", link=someone.token, **{"pass": someone.shown}, filename="a")
        headers = {**TUS, "upload-length": "1", "upload-metadata": metadata, "idempotency-key": "k"}
        return (await someone.caller("POST", "/uploads", headers=headers)).headers["location"]

    assert await begin(one) == await begin(one)
    assert await begin(one) != await begin(other)


async def test_no_more_comes_than_was_asked_for(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann, max_bytes=10)
    someone = await entered(satchel, link)
    assert slug(await someone.begin_upload(11, filename="x")) == (413, "link-full")
    assert (await someone.upload(b"12345678", filename="a")).status_code == 204
    refused = await someone.begin_upload(3, filename="b")
    assert slug(refused) == (413, "link-full")
    assert refused.json()["left_bytes"] == 2
    assert (await someone.upload(b"12", filename="b")).status_code == 204
    assert (await someone.upload(b"", filename="c")).status_code == 204
    assert await names(ann, folder_id) == ["a", "b", "c"]


async def test_there_is_an_end_to_how_many_files_come_by_one_link(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    # As if all the others had come before.
    seed = [assign("receivedFiles", MOST_RECEIVED_FILES - 2)]
    await satchel.stores.tables.update(LINK.table, LINK.key(token=link["token"]), seed)
    waiting = [await someone.begin_upload(1, filename=f"{number}.txt") for number in range(3)]
    statuses: list[int] = []
    for begun in waiting:
        address = begun.headers["location"].removeprefix("/api/v1")
        sent = await someone.caller("PATCH", address, content=b"x", headers={**SENDS, "upload-offset": "0"})
        statuses.append(sent.status_code)
    assert statuses == [204, 204, 410]
    assert await names(ann, folder_id) == ["0.txt", "1.txt"]
    assert slug(await someone.begin_upload(0, filename="empty.txt")) == (413, "link-full")
    assert (await stored(satchel, link)).received_files == MOST_RECEIVED_FILES


async def test_uploads_at_once_stay_within_what_was_asked_for(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann, max_bytes=50)
    visitors = [await entered(satchel, link) for _ in range(5)]
    sent = [visitors[number % 5].upload(f"{number:010}".encode(), filename=f"{number}.txt") for number in range(20)]
    answers = await asyncio.gather(*sent)
    kept = [answer for answer in answers if answer.status_code == 204]
    assert {slug(answer) for answer in answers if answer not in kept} == {(413, "link-full")}
    assert 0 < len(kept) <= 5
    assert len(await names(ann, folder_id)) == len(kept)
    assert (await stored(satchel, link)).received_bytes == 10 * len(kept)
    # What was refused only because others were on their way fits when it comes again.
    for number in range(5 - len(kept)):
        assert (await visitors[0].upload(f"again {number:04}".encode(), filename="again")).status_code == 204
    assert slug(await visitors[0].begin_upload(1, filename="x")) == (413, "link-full")


async def test_what_was_promised_before_a_limit_was_set_does_not_pass_it(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    begun = [(await someone.begin_upload(10, filename=f"{number}")).headers["location"] for number in range(3)]
    await changed(ann, link, max_bytes=15)
    answers = await asyncio.gather(
        *(
            someone.caller(
                "PATCH", each.removeprefix("/api/v1"), content=b"x" * 10, headers={**SENDS, "upload-offset": "0"}
            )
            for each in begun
        )
    )
    assert sorted(answer.status_code for answer in answers) == [204, 410, 410]
    assert {slug(answer) for answer in answers if answer.status_code == 410} == {(410, "upload-unwanted")}
    assert len(await names(ann, folder_id)) == 1
    assert (await stored(satchel, link)).received_bytes == 10
    assert (await satchel.stores.objects.list("uploads/")).objects == []


async def test_an_upload_that_ends_after_the_link_is_not_kept(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    begun = (await someone.begin_upload(1, filename="x")).headers["location"].removeprefix("/api/v1")
    assert (await ann("DELETE", f"/links/{link['link_id']}")).status_code == 204
    sent = await someone.caller("PATCH", begun, content=b"x", headers={**SENDS, "upload-offset": "0"})
    assert slug(sent) == (410, "upload-unwanted")
    assert await names(ann, folder_id) == []
    assert (await satchel.stores.objects.list("uploads/")).objects == []


async def test_an_upload_outlives_its_pass_and_waits_for_a_paused_link(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann, password="swordfish")
    someone = await entered(satchel, link, "swordfish")
    begun = (await someone.begin_upload(1, filename="x")).headers["location"].removeprefix("/api/v1")
    await changed(ann, link, paused=True)
    sent = await someone.caller("PATCH", begun, content=b"x", headers={**SENDS, "upload-offset": "0"})
    assert slug(sent) == (403, "link-paused")
    await changed(ann, link, paused=False)
    satchel.clock.advance(13 * 3600)
    await satchel.housekeep()
    await ann.sign_in("ann@example.org")
    assert await names(ann, folder_id) == ["x"]


async def test_an_upload_whose_end_is_worked_on_twice_counts_once(satchel: Satchel, ann: Caller) -> None:
    link, folder_id = await asked(ann)
    someone = await entered(satchel, link)
    begun = (await someone.begin_upload(4, filename="x")).headers["location"]
    upload_id = begun.rpartition("/")[2]
    file_id = derived_id(upload_id, "file")
    await someone.caller("PATCH", f"/uploads/{upload_id}", content=b"1234", headers={**SENDS, "upload-offset": "0"})
    # As if the server had died before it could note what had become of the upload.
    row = await UPLOAD.get(satchel.stores.tables, upload_id=upload_id)
    assert row is not None
    item = UPLOAD.item(row)
    del item["Became"]
    await satchel.stores.tables.put(UPLOAD.table, item)
    seen = await someone.caller("GET", f"/uploads/{upload_id}")
    assert seen.json()["became"] == file_id
    assert await names(ann, folder_id) == ["x"]
    assert (await stored(satchel, link)).received_bytes == 4
    assert await uploads_counted(ann, link) == 1
    assert await ARRIVAL.get(satchel.stores.tables, token=link["token"], file_id=file_id) is not None


@pytest.fixture
async def tight(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path, sign_up="open", quota=25) as running:
        yield running


async def test_what_comes_counts_against_the_owners_quota(tight: Satchel) -> None:
    ann = tight.caller()
    await ann.sign_up("ann@example.org")
    link, folder_id = await asked(ann)
    someone = await entered(tight, link)
    refused = await someone.begin_upload(26, filename="x")
    assert slug(refused)[0] == 507
    # Not in its id, which is random.
    detail = refused.json()["detail"]
    assert "your shelf" not in detail
    assert "25" not in detail
    answers = await asyncio.gather(
        *(someone.upload(f"{number:010}".encode(), filename=f"{number}") for number in range(6))
    )
    kept = [answer for answer in answers if answer.status_code == 204]
    assert {answer.status_code for answer in answers if answer not in kept} <= {507}
    assert 0 < len(kept) <= 2
    assert len(await names(ann, folder_id)) == len(kept)
    assert (await stored(tight, link)).received_bytes == 10 * len(kept)
    await check_shelf(tight, ann, leftovers=True)
