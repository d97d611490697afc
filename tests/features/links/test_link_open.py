"""What somebody who has a link sees before they enter, in every state that the link can be in."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from satchel.features.links.limits import UNKNOWN_LINKS_PER_NETWORK
from satchel.features.links.model import new_token
from satchel.features.links.records import LINK
from satchel.kernel.clock import iso
from satchel.stores.ports.expressions import add
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, changed, given, given_file, given_folder, slug
from tests.features.links.visiting import Visitor, counted, figures, visitor
from tests.features.shelf.given import made
from tests.features.transfers.given import a_guest

Setting = Callable[[Satchel, Caller, dict[str, Any]], Awaitable[Any]]


async def pause(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    del satchel
    await changed(ann, link, paused=True)


async def expire(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    await changed(ann, link, expires_at=iso(satchel.clock() + 1))
    satchel.clock.advance(1)


async def revoke(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    del satchel
    assert (await ann("DELETE", f"/links/{link['link_id']}")).status_code == 204


async def use_up(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    await changed(ann, link, downloads=1)
    await satchel.stores.tables.update(
        LINK.table, LINK.key(token=link["token"]), [add("granted", 1), add("downloadsUsed", 1)]
    )


async def delete(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    del satchel
    assert (await ann("DELETE", f"/shelf/files/{link['thing']['id']}")).status_code in (200, 204)


async def purge(satchel: Satchel, ann: Caller, link: dict[str, Any]) -> None:
    await delete(satchel, ann, link)
    assert (await ann("DELETE", "/shelf/bin")).is_success


STATES: list[tuple[Setting, tuple[int, str]]] = [
    (pause, (403, "link-paused")),
    (expire, (410, "link-expired")),
    (revoke, (410, "link-revoked")),
    (use_up, (410, "link-used-up")),
    (delete, (410, "link-target-gone")),
    (purge, (410, "link-target-gone")),
]


async def refusals(someone: Visitor, file_id: str) -> dict[str, tuple[int, str]]:
    """What each way into a link answers."""
    return {
        "look": slug(await someone("GET")),
        "enter": slug(await someone("POST", "/enter", json={"password": "swordfish"})),
        "files": slug(await someone("GET", "/files")),
        "content": slug(await someone("GET", "/content")),
        "file": slug(await someone("GET", f"/files/{file_id}/content")),
        "preview": slug(await someone("GET", "/preview")),
        "shown": slug(await someone("GET", f"/files/{file_id}/preview")),
        "archive": slug(await someone("GET", "/archive")),
        "upload": slug(await someone.begin_upload(1, filename="a")),
    }


@pytest.mark.parametrize(("setting", "refusal"), STATES, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize("password", [None, "swordfish"])
async def test_every_way_in_says_what_keeps_a_link_from_working(
    satchel: Satchel, ann: Caller, setting: Setting, refusal: tuple[int, str], password: str | None
) -> None:
    link = await given_file(satchel, ann, password=password)
    someone = visitor(satchel, link)
    await someone.entered(password)
    before = await counted(ann, link)
    await setting(satchel, ann, link)
    answered = await refusals(someone, link["thing"]["id"])
    assert set(answered.values()) == {refusal}, answered
    assert (await counted(ann, link))["opens"] == before["opens"]


async def test_a_link_to_a_file_says_what_it_is_and_counts_nothing(satchel: Satchel, ann: Caller) -> None:
    ends = iso(satchel.clock() + 3600)
    link = await given_file(satchel, ann, note="For you", downloads=3, expires_at=ends)
    seen = await visitor(satchel, link).look()
    listing = seen.pop("listing")
    assert ([file["name"] for file in listing["files"]], listing["cursor"]) == (["file.txt"], None)
    assert seen == {
        "kind": "file",
        "name": "file.txt",
        "size_bytes": len(CONTENT),
        "files": 1,
        "content_type": "text/plain",
        "note": "For you",
        "shared_by": "ann",
        "needs_password": False,
        "expires_at": ends,
        "downloads_left": 3,
        "max_bytes": None,
        "may_add": False,
        "entered": False,
    }
    assert await counted(ann, link) == figures()


async def test_a_link_to_a_folder_says_how_much_is_in_it(satchel: Satchel, ann: Caller) -> None:
    seen = await visitor(satchel, await given_folder(satchel, ann, "a.txt", "b.txt")).look()
    assert (seen["kind"], seen["name"], seen["files"], seen["size_bytes"]) == ("folder", "Folder", 2, 10)


async def test_before_the_password_nothing_is_said_of_what_is_inside(satchel: Satchel, ann: Caller) -> None:
    for link in (
        await given_file(satchel, ann, password="swordfish", note="Ask me"),
        await given_folder(satchel, ann, "a.txt", password="swordfish", note="Ask me"),
    ):
        someone = visitor(satchel, link)
        seen = await someone.look()
        assert [seen[name] for name in ("name", "size_bytes", "files", "content_type")] == [None] * 4
        assert (seen["note"], seen["shared_by"], seen["needs_password"]) == ("Ask me", "ann", True)
        assert not seen["entered"]
        await someone.entered("swordfish")
        seen = await someone.look()
        assert seen["entered"]
        assert (seen["name"], seen["files"]) == (link["thing"]["name"], 1)


async def test_the_name_that_the_owner_gave_a_link_is_for_everybody(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password="swordfish", name="Holidays")
    assert (await visitor(satchel, link).look())["name"] == "Holidays"


async def test_a_link_that_asks_for_files_says_how_much_may_come(satchel: Satchel, ann: Caller) -> None:
    link = await given(ann, "request", await made(ann, "Homework"), max_bytes=10, note="Until Friday")
    seen = await visitor(satchel, link).look()
    assert (seen["kind"], seen["name"], seen["max_bytes"]) == ("request", "Homework", 10)
    assert (seen["files"], seen["size_bytes"]) == (None, None)


async def test_whoever_comes_sees_the_same(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link = await given_file(satchel, ann)
    guest = await a_guest(satchel, "Gus")
    seen = [await visitor(satchel, link, caller=each).look() for each in (satchel.caller(), guest, bob, ann)]
    assert all(each == seen[0] for each in seen)
    assert await counted(ann, link) == figures()


async def test_a_link_lives_as_long_as_its_owner_may(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link = await given_file(satchel, bob)
    assert (await ann("PATCH", f"/people/{bob.user_id}", json={"suspended": True})).is_success
    assert slug(await visitor(satchel, link)("GET")) == (410, "link-target-gone")


@pytest.mark.parametrize("token", ["x", "x" * 22, "x" * 500, "%2e%2e", "Link%23x", "\u0661" * 22])
async def test_what_is_no_token_is_not_found(satchel: Satchel, ann: Caller, token: str) -> None:
    for path in ("", "/files", "/content", "/preview", "/archive", "/files/x/content"):
        answer = await ann("GET", f"/open/{token}{path}")
        assert slug(answer) == (404, "link-unknown"), path


async def test_whoever_tries_tokens_is_stopped_and_spoils_it_for_nobody(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    guesser = satchel.caller("198.51.100.1")
    answers = [await guesser("GET", f"/open/{new_token()}") for _ in range(UNKNOWN_LINKS_PER_NETWORK.times + 5)]
    assert [slug(each)[0] for each in answers] == [404] * UNKNOWN_LINKS_PER_NETWORK.times + [429] * 5
    assert int(answers[-1].headers["retry-after"]) > 0
    for path in ("/files", "/content", "/archive"):
        assert slug(await guesser("GET", f"/open/{new_token()}{path}")) == (429, "too-many")
    # Somebody else behind the same address still gets what they were given.
    assert (await visitor(satchel, link, "198.51.100.1").look())["name"] == "file.txt"
    assert slug(await satchel.caller("198.51.100.2")("GET", f"/open/{new_token()}")) == (404, "link-unknown")
    satchel.clock.advance(timedelta(minutes=15))
    assert slug(await guesser("GET", f"/open/{new_token()}")) == (404, "link-unknown")
