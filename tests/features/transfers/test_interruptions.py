"""The power goes out before each write of sending and saving: nothing is half there, lost or left behind."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from satchel.features.shelf.records import object_key
from satchel.features.transfers.records import FILES_SHOWN, POINTER, RECEIVED, SENT, WAITING
from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import Killed, check_shelf, stored_keys, uploaded
from tests.features.transfers.given import by_email, counts, history, seen
from tests.features.transfers.meddling import Before, lose_power

Pair = tuple[Satchel, Caller, Caller]


@pytest.fixture
async def pair(tmp_path: Path, before: Before) -> AsyncGenerator[Pair]:
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        yield satchel, ann, bob


async def survived(before: Before, number: int, act: Callable[[], Awaitable[object]]) -> bool:
    """Whether it was done before the power went out."""
    before.the_write(number, lose_power, for_good=True)
    try:
        await act()
    except BaseExceptionGroup as failed:
        assert failed.split(Killed)[1] is None
        return False
    except Killed:
        return False
    else:
        return True
    finally:
        before.no_write()


# More files than the transfer's own row has are not written in one step.
@pytest.mark.parametrize("more", [0, FILES_SHOWN])
async def test_sending_happens_for_both_or_for_nobody_and_can_be_completed(
    pair: Pair, before: Before, more: int
) -> None:
    satchel, ann, bob = pair
    names = [b"a", b"b", *(b"%d" % number for number in range(more))]
    number, done, seen_before = 0, False, 0
    while not done:
        number += 1
        files = [await uploaded(satchel, ann, f"{number} {each}.txt", b"%d" % number + each) for each in names]
        done = await survived(before, number, lambda ids=files: by_email(ann, *(str(file.file_id) for file in ids)))
        ids = await history(ann)
        assert await history(bob) == ids
        assert await history(bob, direction="received") == await history(ann, direction="sent") == ids
        if len(ids) > seen_before:
            assert (await bob("POST", f"/transfers/{ids[0]}/save", json={})).status_code == 200
            assert (await seen(ann, ids[0]))["counts"] == counts(opened=1)
        seen_before = len(ids)
        assert len(await check_shelf(satchel, bob, leftovers=True)) == len(names) * len(ids)
        satchel.clock.advance(1)
    assert seen_before > 3
    await left_clean(satchel, ann, bob)


@pytest.mark.parametrize("what", ["withdraw", "decline"])
async def test_what_is_withdrawn_or_declined_goes_from_the_shelf_though_the_power_went_out(
    pair: Pair, before: Before, what: str
) -> None:
    satchel, ann, bob = pair
    number, done, ended = 0, False, 0
    while not done:
        number += 1
        files = [await uploaded(satchel, ann, f"{number} {each}.txt", b"%d" % number + each) for each in (b"a", b"b")]
        transfer_id = (await by_email(ann, *(str(file.file_id) for file in files)))["transfer_id"]
        caller, path = ann if what == "withdraw" else bob, f"/transfers/{transfer_id}/{what}"
        done = await survived(before, number, lambda call=caller, path=path: call("POST", path))
        satchel.clock.advance(3600 + 1)
        await satchel.housekeep()
        await ann.refresh()
        await bob.refresh()
        state = (await seen(bob, transfer_id))["state"]
        assert state in ("shelved", "withdrawn", "declined")
        ended += state != "shelved"
        assert len(await check_shelf(satchel, bob, leftovers=True)) == 2 * (number - ended)
    assert ended > 3
    await left_clean(satchel, ann, bob)


async def test_a_key_leads_to_its_transfer_whenever_the_power_went_out_and_however_late_it_is_repeated(
    pair: Pair, before: Before
) -> None:
    satchel, ann, bob = pair
    number, done = 0, False
    while not done:
        number += 1
        file = await uploaded(satchel, ann, f"{number}.txt", b"%d" % number)
        body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": [file.file_id]}
        key = {"idempotency-key": f"key-{number}"}
        done = await survived(
            before, number, lambda body=body, key=key: ann("POST", "/transfers", json=body, headers=key)
        )
        satchel.clock.advance(600)
        await ann.refresh()
        await bob.refresh()
        again = await ann("POST", "/transfers", json=body, headers=key)
        assert again.status_code == 201, again.text
        assert again.json()["state"] == "shelved"
        assert len(await history(bob)) == number
        # Of somebody whom he knows he takes as many as there are.
        assert (await bob("POST", f"/transfers/{again.json()['transfer_id']}/save", json={})).status_code == 200
    assert number > 4
    await left_clean(satchel, ann, bob)


async def left_clean(satchel: Satchel, *people: Caller) -> None:
    """A day later nothing is stored that no file shows."""
    satchel.clock.advance(24 * 3600 + 1)
    await satchel.housekeep()
    for person in people:
        await person.refresh()
        for shape in (POINTER, SENT, RECEIVED, WAITING):
            for row in (await shape.list(satchel.stores.tables, person_id=person.user_id, limit=1000)).records:
                assert (await person("GET", f"/transfers/{row.transfer_id}")).status_code == 200
        files = await check_shelf(satchel, person, leftovers=True)
        assert set(await stored_keys(satchel, f"user/{person.user_id}/")) == {object_key(file) for file in files}
