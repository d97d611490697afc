"""Announced files: everybody hears of them, only their owner and the host take them back."""

import asyncio
from typing import Any

import pytest

from tests.application import Satchel
from tests.features.drop.given import announced, asked, hearing, joined, new_id, opened, sealed, slug


def a_file(**changes: Any) -> dict[str, Any]:
    return {"file_id": new_id(), "sealed": sealed(), **changes}


async def test_what_is_announced_is_told_to_everybody_and_listed(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    files = [a_file(), a_file()]
    async with hearing(satchel, host) as heard:
        assert (await guest("POST", "/files", json={"files": files})).status_code == 204
        told = await heard.until("drop.files")
    shown = [{**each, "owner_id": guest.member_id} for each in files]
    assert sorted(told["files"], key=str) == sorted(shown, key=str)
    assert sorted((await host.look())["files"], key=str) == sorted(shown, key=str)


async def test_announcing_again_describes_a_file_anew(satchel: Satchel) -> None:
    host = await opened(satchel)
    file = a_file()
    await host("POST", "/files", json={"files": [file]})
    await host("POST", "/files", json={"files": [file, a_file(file_id=file["file_id"], sealed="bmV3")]})
    assert [each["sealed"] for each in (await host.look())["files"]] == ["bmV3"]


async def test_the_id_of_somebody_elses_file_cannot_be_announced(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    file_id = await announced(host)
    before = (await host.look())["files"]
    taken = await guest("POST", "/files", json={"files": [a_file(), a_file(file_id=file_id)]})
    assert slug(taken) == (409, "conflict")
    assert (await host.look())["files"] == before


async def test_an_id_that_two_announce_at_once_is_one_persons(satchel: Satchel) -> None:
    host = await opened(satchel)
    people = [host, *[await joined(satchel, host) for _ in range(4)]]
    file_id = new_id()
    answers = await asyncio.gather(
        *(each("POST", "/files", json={"files": [a_file(file_id=file_id)]}) for each in people)
    )
    assert sorted(answer.status_code for answer in answers) == [204, 409, 409, 409, 409]
    first = people[[answer.status_code for answer in answers].index(204)]
    assert [each["owner_id"] for each in (await host.look())["files"]] == [first.member_id]


async def test_a_session_has_room_for_a_thousand_announcements(satchel: Satchel) -> None:
    host = await opened(satchel)
    assert (await host("POST", "/files", json={"files": [a_file() for _ in range(1000)]})).status_code == 204
    refused = await host("POST", "/files", json={"files": [a_file()]})
    assert slug(refused) == (409, "too-many-files")
    assert refused.json()["limit"] == 1000
    files = (await host.look())["files"]
    assert len(files) == 1000
    assert (await host("DELETE", f"/files/{files[0]['file_id']}")).status_code == 204
    assert (await host("POST", "/files", json={"files": [a_file()]})).status_code == 204


async def test_a_session_has_room_for_two_mebibytes_of_announcements(satchel: Satchel) -> None:
    host = await opened(satchel)
    long = "a" * 21_845
    many = [a_file(sealed=long) for _ in range(94)]
    for part in (many[:40], many[40:80], many[80:]):
        assert (await host("POST", "/files", json={"files": part})).status_code == 204
    refused = await host("POST", "/files", json={"files": [a_file(), *[a_file(sealed=long) for _ in range(3)]]})
    assert slug(refused) == (409, "too-many-files")
    assert refused.json()["limit_bytes"] == 2 * 1024 * 1024
    assert len((await host.look())["files"]) == 94
    assert (await host("POST", "/files", json={"files": [a_file()]})).status_code == 204
    # What is described anew does not count twice.
    assert (await host("POST", "/files", json={"files": many[:30]})).status_code == 204


async def test_a_withdrawn_file_takes_its_requests_along(satchel: Satchel) -> None:
    host = await opened(satchel)
    owner, receiver = await joined(satchel, host), await joined(satchel, host)
    kept, withdrawn = await announced(owner), await announced(owner)
    wanted = [await asked(receiver, withdrawn), await asked(host, withdrawn)]
    still = await asked(receiver, kept)
    async with hearing(satchel, receiver) as heard:
        assert (await owner("DELETE", f"/files/{withdrawn}")).status_code == 204
        assert (await heard.until("drop.withdrawn"))["file_ids"] == [withdrawn]
        ended = {(await heard.until("drop.ended"))["request_id"] for _ in wanted}
    assert ended == set(wanted)
    seen = await host.look()
    assert [each["file_id"] for each in seen["files"]] == [kept]
    assert [each["request_id"] for each in seen["requests"]] == [still]


async def test_only_its_owner_and_the_host_withdraw_a_file(satchel: Satchel) -> None:
    host = await opened(satchel)
    owner, other = await joined(satchel, host), await joined(satchel, host)
    file_ids = [await announced(owner), await announced(owner)]
    assert slug(await other("DELETE", f"/files/{file_ids[0]}")) == (403, "forbidden")
    assert (await host("DELETE", f"/files/{file_ids[0]}")).status_code == 204
    assert (await owner("DELETE", f"/files/{file_ids[1]}")).status_code == 204
    assert slug(await owner("DELETE", f"/files/{file_ids[1]}")) == (404, "file-unknown")


@pytest.mark.parametrize("files", [[], [{"file_id": "x", "sealed": "s"}], [a_file(name="clear")], [a_file(size=1)]])
async def test_announcements_tell_nothing_in_clear(satchel: Satchel, files: list[dict[str, Any]]) -> None:
    host = await opened(satchel)
    assert slug(await host("POST", "/files", json={"files": files})) == (422, "invalid")
