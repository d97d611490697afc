"""Deleting an account: what is said before, what goes, what others keep, and what happens if the power goes out."""

import sqlite3
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from satchel.features.rooms.records import OWNED
from satchel.stores.ports.ephemeral import SetAll
from tests.application import PASSWORD, Caller, Satchel, running_satchel
from tests.features.belongings import Belongings, belongings
from tests.features.shelf.given import Killed, uploaded
from tests.features.transfers.given import by_email, seen, slug
from tests.features.transfers.meddling import Before, lose_power

BOB = "bob@example.org"


async def delete(caller: Caller, whose: str = "/accounts/me", password: str = PASSWORD) -> Any:
    return await caller("POST", f"{whose}/deletion", json={"password": password})


def traces(satchel: Satchel, *needles: str) -> list[tuple[str, bytes, bytes]]:
    """The rows of every table that name the person, in a key or inside."""
    found: list[tuple[str, bytes, bytes]] = []
    with sqlite3.connect(f"file:{satchel.settings.data}/satchel.db?mode=ro", uri=True) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            columns = {column for _, column, *_ in connection.execute(f'PRAGMA table_info("{name}")')}
            if {"pk", "sk", "doc"} <= columns:
                rows = connection.execute(f'SELECT pk, sk, doc FROM "{name}"')
                found += [
                    (name, pk, sk)
                    for pk, sk, doc in rows
                    if any(needle.encode() in bytes(part) for needle in needles for part in (pk, sk, doc))
                ]
    return found


async def objects_of(satchel: Satchel, user_id: str) -> list[str]:
    found: list[str] = []
    after = ""
    while True:
        page = await satchel.stores.objects.list("", after=after)
        found += [info.key for info in page.objects if user_id in info.key]
        if not (after := page.after or ""):
            return found


@pytest.fixture
def before() -> Before:
    return Before()


@pytest.fixture
async def world(tmp_path: Path, before: Before) -> AsyncGenerator[tuple[Satchel, Caller, Belongings]]:
    """Ann administers; Bob has something of everything, and has part in what Ann has."""
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up(BOB)
        yield satchel, ann, await belongings(satchel, ann, bob)


async def given_to_bob(satchel: Satchel, ann: Caller, bob: Caller) -> tuple[str, str]:
    """Something that Ann has sent to Bob, and something that he has sent to her, which she keeps."""
    sent = await by_email(ann, (await uploaded(satchel, ann, "hello.txt", b"hello")).file_id, to=BOB)
    got = await by_email(bob, (await uploaded(satchel, bob, "back.txt", b"back")).file_id, to="ann@example.org")
    body = {"name": "Hers", "start": "2024-07-10", "end": "2024-07-20"}
    album = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
    assert (await ann("PUT", f"/albums/{album}/shares/{BOB}", json={})).is_success
    score = (await ann("POST", "/scores", json={"title": "Hers"})).json()["score_id"]
    assert (await ann("PUT", f"/scores/{score}/shares/{BOB}", json={"role": "marker"})).is_success
    for shared in (False, True):
        assert (await bob("POST", f"/scores/{score}/layers", json={"name": f"Layer {shared}"})).is_success
    return sent["transfer_id"], got["transfer_id"]


async def test_all_that_is_a_persons_goes_and_what_others_got_stays(
    world: tuple[Satchel, Caller, Belongings],
) -> None:
    satchel, ann, found = world
    bob = found.owner
    sent, got = await given_to_bob(satchel, ann, bob)
    said = (await bob("GET", "/accounts/me/deletion")).json()
    assert said == (await ann("GET", f"/people/{bob.user_id}/deletion")).json()
    assert (said["name"], said["email"], said["last_administrator"]) == ("bob", BOB, False)
    kinds = ("files", "file_bytes", "photos", "photo_bytes", "albums", "scores", "set_lists", "links", "rooms")
    assert not [kind for kind in (*kinds, "transfers", "uploads", "sessions", "shared") if not said[kind]], said
    assert (said["scores"], said["links"], said["rooms"], said["shared"]) == (1, 1, 1, 2)

    wrong = await delete(bob, password="not that one")
    assert (wrong.status_code, slug(wrong)) == (401, "wrong-credentials")
    assert (await bob("GET", "/accounts/me")).status_code == 200

    answer = await delete(bob)
    assert (answer.status_code, answer.json()) == (200, {"finished": True})
    assert (await bob("GET", "/accounts/me")).status_code == 401
    assert (await bob.refresh()).status_code == 401
    refused, unknown = await bob.sign_in(BOB), await bob.sign_in("nobody@example.org")
    assert (refused.status_code, slug(refused)) == (unknown.status_code, slug(unknown)) == (401, "wrong-credentials")
    assert (await ann("GET", f"/people/{bob.user_id}/deletion")).status_code == 404
    assert BOB not in [each["email"] for each in (await ann("GET", "/people")).json()["people"]]

    assert (await seen(ann, sent))["receiver"]["name"] == "a deleted person"
    kept = await seen(ann, got)
    assert (kept["sender"]["name"], kept["sender"]["kind"]) == ("a deleted person", "deleted")
    assert (await ann("GET", f"/transfers/{got}/files/0/content")).content == b"back"
    assert await objects_of(satchel, bob.user_id) == []
    assert not await satchel.stores.ephemeral.run(SetAll(OWNED(person_id=bob.user_id)))
    left = traces(satchel, BOB)
    assert left == []
    await satchel.housekeep()

    # The address is free. Whoever has it next begins with nothing.
    new = satchel.caller()
    assert (await new.sign_up(BOB)).status_code == 201
    assert new.user_id != bob.user_id
    for name in ("scopes", "albums", "scores", "transfers"):
        mine = (await new("GET", f"/{name}")).json()[name]
        assert [each for each in mine if each.get("type") != "owner:main"] == [], name
    satchel.clock.advance(24 * 3600 + 1)
    await satchel.housekeep()
    assert (await new.sign_in(BOB)).status_code == 201
    assert traces(satchel, f"DEPARTURE#{bob.user_id}") == []


async def test_wherever_the_power_goes_out_the_rest_is_deleted_later(
    world: tuple[Satchel, Caller, Belongings], before: Before
) -> None:
    satchel, ann, found = world
    bob = found.owner
    await given_to_bob(satchel, ann, bob)
    number, gone = 0, False
    while not gone:
        number += 1
        # Each time a little further: every step is cut off, and done again, at least once.
        before.the_write(number, lose_power, for_good=True)
        try:
            if (await ann.sign_in("ann@example.org")).is_success:
                await delete(ann, f"/people/{bob.user_id}")
                satchel.clock.advance(301)
                await satchel.sweep()
        except* Killed:
            pass
        finally:
            before.no_write()
        satchel.clock.advance(301)
        await ann.sign_in("ann@example.org")
        gone = not traces(satchel, BOB)
    assert number > 15
    assert await objects_of(satchel, bob.user_id) == []
    await satchel.housekeep()


async def test_the_last_administrator_stays_until_there_is_another(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    assert (await ann("GET", "/accounts/me/deletion")).json()["last_administrator"]
    for whose in ("/accounts/me", f"/people/{ann.user_id}"):
        refused = await delete(ann, whose)
        assert (refused.status_code, slug(refused)) == (409, "last-administrator")
    assert (await ann("PATCH", f"/people/{bob.user_id}", json={"administrator": True})).is_success
    assert (await delete(ann)).json() == {"finished": True}
    await bob.sign_in(BOB)
    assert [each["name"] for each in (await bob("GET", "/people")).json()["people"]] == ["bob"]


async def test_only_oneself_and_administrators_delete_an_account(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    """An administrator enters their own password, and guesses at it are bounded."""
    assert (await delete(bob, f"/people/{ann.user_id}")).status_code == 403
    assert (await bob("GET", f"/people/{ann.user_id}/deletion")).status_code == 403
    answers = [await delete(ann, f"/people/{bob.user_id}", "wrong") for _ in range(11)]
    assert [each.status_code for each in answers] == [401] * 10 + [429]
    assert (await bob("GET", "/accounts/me")).status_code == 200
