"""Looking at the links one has given: all of them, those to one thing, and nobody else's."""

from typing import Any

import pytest

from satchel.features.links.adapters import LinkTargets
from satchel.features.shelf.adapters import LinkedShelfFiles
from satchel.kernel.clock import iso
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, changed, given, given_file, listed, read, slug
from tests.features.rooms.given import guest
from tests.features.shelf.given import made, shelf_of, uploaded

# What is sent to each route of one link.
ROUTES: dict[str, dict[str, Any]] = {"GET": {}, "PATCH": {"json": {"note": "mine now"}}, "DELETE": {}}


async def test_links_are_listed_the_newest_first_in_pages(satchel: Satchel, ann: Caller) -> None:
    ids: list[str] = []
    for _ in range(7):
        satchel.clock.advance(1)
        ids.append((await given_file(satchel, ann))["link_id"])
    assert await listed(ann) == ids[::-1]
    assert await listed(ann, limit=2) == ids[::-1]


async def test_the_links_to_one_thing_are_listed_by_themselves(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "file.txt", b"x")
    folder_id = await made(ann, "Folder")
    first = await given(ann, "file", file.file_id)
    satchel.clock.advance(1)
    second = await given(ann, "file", file.file_id)
    folder = await given(ann, "folder", folder_id)
    satchel.clock.advance(1)
    asking = await given(ann, "request", folder_id)
    assert await listed(ann, thing=f"file:{file.file_id}", limit=1) == [second["link_id"], first["link_id"]]
    # A folder is one thing, whether files leave it or come into it.
    assert await listed(ann, thing=f"folder:{folder_id}") == [asking["link_id"], folder["link_id"]]
    for unknown in ("file:unknown", "file", "file:", f"file:{file.file_id[:-1]}", "#", "album:x"):
        assert await listed(ann, thing=unknown) == []
    assert await listed(bob, thing=f"file:{file.file_id}") == []


async def test_questions_that_make_no_sense_are_refused(ann: Caller) -> None:
    queries: list[dict[str, Any]] = [{"limit": 0}, {"limit": 1001}, {"cursor": "x"}, {"thing": ""}, {"of": "me"}]
    for query in queries:
        assert (await ann("GET", "/links", params=query)).status_code == 422, query


@pytest.mark.parametrize("method", ROUTES)
async def test_a_link_is_nobodys_business_but_its_owners(
    satchel: Satchel, ann: Caller, bob: Caller, method: str
) -> None:
    carol = satchel.caller()
    await carol.sign_up("carol@example.org")
    link = await given_file(satchel, bob)
    path = f"/links/{link['link_id']}"
    assert (await satchel.caller()(method, path, **ROUTES[method])).status_code == 401
    assert (await (await guest(satchel))(method, path, **ROUTES[method])).status_code == 401
    # Ann administers the server, which makes her no owner of what others share.
    for other in (carol, ann):
        assert slug(await other(method, path, **ROUTES[method])) == (404, "link-unknown")
        assert await listed(other) == []
    assert await read(bob, link) == link
    assert (await bob(method, path, **ROUTES[method])).is_success


async def test_there_is_no_link_of_another_id_and_the_token_is_none(satchel: Satchel, ann: Caller) -> None:
    token = (await given_file(satchel, ann))["token"]
    for link_id in ("unknown", "x" * 65, "a%23b", "%25", "%C3%A9", token):
        for method, request in ROUTES.items():
            assert slug(await ann(method, f"/links/{link_id}", **request)) == (404, "link-unknown"), link_id


async def test_what_was_counted_is_shown_with_each_link(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    link, other = await given_file(satchel, ann), await given_file(satchel, ann)
    visitors = [satchel.caller("192.0.2.1"), satchel.caller("192.0.2.1"), satchel.caller("192.0.2.2"), bob, ann]
    for visitor in visitors:
        satchel.clock.advance(1)
        assert (await visitor("POST", f"/open/{link['token']}/enter", json={})).status_code == 200
    answer = await visitors[0]("GET", f"/open/{link['token']}/content")
    assert answer.content == CONTENT
    # The owner's own visits do not count; whoever comes without a pass opens the link by downloading.
    seen = await read(ann, link)
    assert (seen["opens"], seen["people"], seen["downloads"], seen["downloads_used"]) == (5, 3, 1, 1)
    # What happens in one millisecond is counted in the next ones.
    assert seen["last_at"][:19] == iso(satchel.clock())[:19]
    assert await read(ann, other) == other


async def test_others_can_ask_what_a_link_leads_to_and_what_it_is_called(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    naming = LinkTargets(satchel.stores.tables, {"file": LinkedShelfFiles(shelf_of(satchel))})
    plain = await given_file(satchel, ann)
    satchel.clock.advance(1)
    named = await given_file(satchel, ann, name="Our song")
    assert await naming.thing_of(ann.user_id, plain["link_id"]) == f"file:{plain['thing']['id']}"
    assert await naming.thing_of(bob.user_id, plain["link_id"]) is None
    for unknown in ("", "unknown", "#", "x" * 200):
        assert await naming.thing_of(ann.user_id, unknown) is None
        assert await naming.link_of_badge(unknown) is None
    await ann("DELETE", f"/shelf/files/{plain['thing']['id']}")
    await ann("DELETE", f"/links/{named['link_id']}")
    titles = [(each.link_id, each.name, each.thing_name) for each in await naming.titles(ann.user_id, 10)]
    # The second file of the same name got a number.
    assert titles == [(named["link_id"], "Our song", "file (1).txt"), (plain["link_id"], "file.txt", "file.txt")]
    assert [each.link_id for each in await naming.titles(ann.user_id, 1)] == [named["link_id"]]
    assert await naming.titles(bob.user_id, 10) == []


async def test_a_badge_leads_to_its_link_for_as_long_as_it_is_shown(satchel: Satchel, ann: Caller) -> None:
    naming = LinkTargets(satchel.stores.tables, {})
    link = await given_file(satchel, ann)
    badge_id = (await changed(ann, link, badge=True))["badge_address"].rpartition("/")[2]
    assert await naming.link_of_badge(badge_id) == link["link_id"]
    await ann("DELETE", f"/links/{link['link_id']}")
    assert await naming.link_of_badge(badge_id) is None
