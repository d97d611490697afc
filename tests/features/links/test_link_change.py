"""Pausing, extending, limiting, renaming and revoking links: each change by itself, all of them at once."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from satchel.features.links.model import Token
from satchel.features.links.records import BADGE, ENDED, GRANT, LINK, POINTER, POINTER_BY_THING, GrantRow
from satchel.kernel.clock import iso
from satchel.stores.ports.expressions import add
from tests.application import Caller, Satchel, running_satchel
from tests.features.links.given import change, changed, given, given_file, listed, read, slug
from tests.features.shelf.given import Killed, made
from tests.features.transfers.meddling import Before, lose_power

REFUSED: list[dict[str, Any]] = [
    {"paused": "yes"},
    {"paused": None},
    {"note": "x" * 501},
    {"name": None},
    {"password": "short"},
    {"downloads": 0},
    {"max_bytes": 1},
    {"expires_at": "2001-01-01T00:00:00Z"},
    {"expires_at": "1970-01-01T00:00:00Z"},
    {"badge": 1},
    {"revoked": True},
    {"token": "x"},
]


async def revoke(caller: Caller, link: dict[str, Any]) -> int:
    return (await caller("DELETE", f"/links/{link['link_id']}")).status_code


async def test_a_paused_link_goes_on_when_its_owner_wants(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    assert (await changed(ann, link, paused=True))["state"] == "paused"
    assert (await changed(ann, link, paused=True))["state"] == "paused"
    assert await changed(ann, link, paused=False) == link


async def test_an_expired_link_works_again_once_extended(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, expires_at=iso(satchel.clock() + 60))
    satchel.clock.advance(59)
    assert (await read(ann, link))["state"] == "active"
    satchel.clock.advance(1)
    assert (await read(ann, link))["state"] == "expired"
    assert (await changed(ann, link, expires_at=iso(satchel.clock() + 1)))["state"] == "active"
    satchel.clock.advance(1)
    assert (await changed(ann, link, expires_at=None))["expires_at"] is None
    assert (await read(ann, link))["state"] == "active"


async def test_every_condition_can_be_changed_and_taken_away(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    wishes = {"name": "New", "note": "Note", "password": "swordfish", "downloads": 5}
    new = await changed(ann, link, **wishes)
    assert (new["name"], new["note"], new["has_password"], new["downloads_limit"]) == ("New", "Note", True, 5)
    assert await changed(ann, link, name="", note="", password=None, downloads=None) == link
    assert await changed(ann, link) == link
    asking = await given(ann, "request", await made(ann, "Folder"))
    assert (await changed(ann, asking, max_bytes=10))["max_bytes"] == 10
    assert (await changed(ann, asking, max_bytes=None)) == asking


async def test_a_limit_below_what_was_used_uses_the_link_up(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=5)
    key = LINK.key(token=link["token"])
    await satchel.stores.tables.update(LINK.table, key, [add("granted", 3), add("downloadsUsed", 3)])
    assert (await changed(ann, link, downloads=4))["state"] == "active"
    assert (await changed(ann, link, downloads=3))["state"] == "used-up"
    assert (await changed(ann, link, downloads=None))["state"] == "active"


async def test_changes_that_make_no_sense_change_nothing(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, name="Name", note="Note")
    for wishes in REFUSED:
        answer = await change(ann, link, **{"note": "New", **wishes})
        assert answer.status_code == 422, wishes
    assert await read(ann, link) == link


async def test_a_badge_has_an_address_of_its_own_until_it_is_switched_off(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    first = (await changed(ann, link, badge=True))["badge_address"]
    assert first.startswith("http://satchel.test/api/v1/badges/")
    assert link["token"] not in first
    assert link["link_id"] not in first
    assert (await changed(ann, link, badge=True))["badge_address"] == first
    assert (await changed(ann, link, badge=False))["badge_address"] is None
    assert await BADGE.get(satchel.stores.tables, badge_id=first.rpartition("/")[2]) is None
    assert (await changed(ann, link, badge=True))["badge_address"] != first


async def test_a_revoked_link_stays_revoked(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    badge = (await changed(ann, link, badge=True))["badge_address"]
    assert await revoke(ann, link) == 204
    assert await revoke(ann, link) == 204
    assert await read(ann, link) == {**link, "state": "revoked"}
    assert slug(await change(ann, link, paused=False)) == (410, "link-revoked")
    assert await BADGE.get(satchel.stores.tables, badge_id=badge.rpartition("/")[2]) is None


async def test_changes_at_once_each_keep_what_they_said(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    key = LINK.key(token=link["token"])
    wishes: list[dict[str, Any]] = [
        {"note": "Note"},
        {"name": "Name"},
        {"paused": True},
        {"downloads": 7},
        {"password": "swordfish"},
        {"badge": True},
        {"badge": True},
        {"badge": True},
    ]
    answers, _ = await asyncio.gather(
        asyncio.gather(*(change(ann, link, **wish) for wish in wishes)),
        asyncio.gather(*(satchel.stores.tables.update(LINK.table, key, [add("granted", 1)]) for _ in range(5))),
    )
    assert {answer.status_code for answer in answers} == {200}
    row = await LINK.get(satchel.stores.tables, token=link["token"])
    assert row is not None
    assert (row.note, row.name, bool(row.paused_at), row.downloads_limit) == ("Note", "Name", True, 7)
    assert (bool(row.password), row.granted) == (True, 5)
    # All who switched it on at once are shown the one badge that there is.
    badges = {answer.json()["badge_address"] for answer in answers[-3:]}
    assert [badge.rpartition("/")[2] for badge in badges] == [row.badge_id]
    assert await BADGE.get(satchel.stores.tables, badge_id=row.badge_id) is not None


async def test_what_comes_just_before_a_change_is_not_overrun_by_it(tmp_path: Path) -> None:
    before = Before()
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann, tables = satchel.caller(), satchel.stores.tables
        await ann.sign_up("ann@example.org")
        link = await given_file(satchel, ann)
        badges: list[str] = []

        async def switch_on() -> None:
            badges.append((await changed(ann, link, badge=True))["badge_address"])

        # Of two who switch the badge on at once, one does.
        before.the_write(1, switch_on)
        assert [(await changed(ann, link, badge=True))["badge_address"]] == badges
        # A link that has a badge since we looked is revoked with it.
        await changed(ann, link, badge=False)
        before.the_write(1, switch_on)
        assert await revoke(ann, link) == 204
        row = await LINK.get(tables, token=link["token"])
        assert row is not None
        assert row.revoked_at
        assert not row.badge_id
        assert await BADGE.get(tables, badge_id=badges[1].rpartition("/")[2]) is None


async def test_nothing_changes_a_link_that_is_revoked_just_before(tmp_path: Path) -> None:
    before = Before()
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        changes: list[dict[str, Any]] = [{"note": "late"}, {"badge": True}]
        for wishes in changes:
            link = await given_file(satchel, ann)
            before.the_write(1, lambda link=link: revoke(ann, link))
            assert slug(await change(ann, link, **wishes)) == (410, "link-revoked")
            assert await read(ann, link) == {**link, "state": "revoked"}


async def test_a_revoked_link_is_forgotten_after_ninety_days_with_all_that_belongs_to_it(
    satchel: Satchel, ann: Caller
) -> None:
    tables = satchel.stores.tables
    link, other = await given_file(satchel, ann), await given_file(satchel, ann)
    grants = [
        GrantRow(token=Token(link["token"]), visitor=f"visitor:{number}", file_id="f", size_bytes=1, changed_at="2030")
        for number in range(150)
    ]
    await tables.write_many(GRANT.table, put=[GRANT.item(grant) for grant in grants])
    await revoke(ann, link)
    satchel.clock.advance(timedelta(days=90) - timedelta(seconds=1))
    await satchel.housekeep()
    await ann.sign_in("ann@example.org")
    assert (await read(ann, link))["state"] == "revoked"
    satchel.clock.advance(1)
    await satchel.housekeep()
    assert slug(await ann("GET", f"/links/{link['link_id']}")) == (404, "link-unknown")
    assert await listed(ann) == [other["link_id"]]
    assert (await tables.query(LINK.table, f"Link#{link['token']}")).items == []
    assert await ENDED.get(tables, token=link["token"]) is None
    for shape in (POINTER, POINTER_BY_THING):
        rows = (await shape.list(tables, owner_id=ann.user_id)).records
        assert [row.link_id for row in rows] == [other["link_id"]]


async def test_forgetting_goes_on_where_the_power_went_out(tmp_path: Path) -> None:
    before = Before()
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann, tables = satchel.caller(), satchel.stores.tables
        await ann.sign_up("ann@example.org")
        for number in range(4):
            link = await given_file(satchel, ann)
            grant = GrantRow(token=Token(link["token"]), visitor="v", file_id="f", size_bytes=1, changed_at="2030")
            await tables.put(GRANT.table, GRANT.item(grant))
            await revoke(ann, link)
            satchel.clock.advance(timedelta(days=90))
            before.the_write(number + 1, lose_power, for_good=True)
            with suppress(Killed):
                await satchel.sweep()
            before.no_write()
            # Whatever of it is left, its owner can see it until it is gone.
            pointers = (await POINTER.list(tables, owner_id=ann.user_id)).records
            rows = (await tables.query(LINK.table, f"Link#{link['token']}")).items
            assert bool(rows) == bool(pointers) == (await ENDED.get(tables, token=link["token"]) is not None)
            await satchel.housekeep()
            assert (await tables.query(LINK.table, f"Link#{link['token']}")).items == []
            assert (await POINTER.list(tables, owner_id=ann.user_id)).records == []
            await ann.sign_in("ann@example.org")
