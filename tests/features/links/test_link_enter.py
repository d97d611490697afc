"""Entering a link: passwords, passes and for how long they are good, what comes of it for each kind of thing."""

import asyncio
import hashlib
from datetime import timedelta
from typing import Any

import httpx
import pytest

from satchel.cli.engine.http.guess_work import solve
from satchel.features.accounts.service.passwords import Cost, Passwords
from satchel.features.links.limits import (
    DOWNLOADS_PER_PAIR,
    VISITS_PER_PAIR,
    WRONG_PASSWORDS_PER_LINK,
    WRONG_PASSWORDS_PER_PAIR,
)
from satchel.features.links.service.passes import LIFETIME
from satchel.stores.patterns import guess_lane
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, changed, given, given_file, given_folder, slug
from tests.features.links.visiting import AGENT, PREVIEWER, Visitor, counted, figures, visitor
from tests.features.shelf.given import made
from tests.features.transfers.given import a_guest

RIGHT = "swordfish"


async def test_entering_gives_a_pass_and_the_one_file(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    entered = await visitor(satchel, link).entered()
    assert entered["listing"] == {
        "files": [
            {
                "file_id": link["thing"]["id"],
                "path": "file.txt",
                "name": "file.txt",
                "size_bytes": len(CONTENT),
                "sha256": hashlib.sha256(CONTENT).hexdigest(),
                "content_type": "text/plain",
                "modified_at": None,
                "executable": False,
                "preview": "text",
                "picture": None,
                "photo": None,
            }
        ],
        "folders": [],
        "cursor": None,
    }
    assert entered["goto"] is None
    assert entered["pass"]


async def test_entering_counts_one_opening_for_each_time_and_one_person_for_each_visitor(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    link = await given_file(satchel, ann)
    guest = await a_guest(satchel, "Gus")
    for each in (satchel.caller("203.0.113.1"), satchel.caller("203.0.113.2"), guest, bob):
        for _ in range(2):
            await visitor(satchel, link, caller=each).entered()
    assert await counted(ann, link) == figures(opens=8, people=4)


async def test_who_opens_a_link_again_and_again_from_one_network_is_counted_so_often_a_day(
    satchel: Satchel, ann: Caller
) -> None:
    link = await given_file(satchel, ann)
    counted_already = VISITS_PER_PAIR.times - 2
    throttle = VISITS_PER_PAIR.on(satchel.stores.ephemeral)
    await throttle.add(f"203.0.113.1 {link['link_id']}", counted_already)
    for number in range(5):
        # As another browser each time.
        browser = {"user-agent": f"{AGENT} {number}"}
        answer = await satchel.caller("203.0.113.1")("POST", f"/open/{link['token']}/enter", json={}, headers=browser)
        assert answer.status_code == 200
    await visitor(satchel, link, "203.0.113.2").entered()
    assert await counted(ann, link) == figures(opens=3, people=3)


async def test_who_downloads_again_and_again_from_one_network_is_counted_so_often_a_day(
    satchel: Satchel, ann: Caller
) -> None:
    link = await given_file(satchel, ann, downloads=100)
    throttle = DOWNLOADS_PER_PAIR.on(satchel.stores.ephemeral)
    await throttle.add(f"203.0.113.1 {link['link_id']}", DOWNLOADS_PER_PAIR.times - 2)
    many, other = visitor(satchel, link, "203.0.113.1"), visitor(satchel, link, "203.0.113.2")
    for each in (many, other):
        await each.entered()
    for each in (*[many] * 5, other):
        assert (await each("GET", "/content")).content == CONTENT
    for scope in (f"link:{link['link_id']}", "site"):
        total = (await ann("GET", f"/stats/{scope}/summary")).json()["total"]
        assert (total["open"], total["download"], total["clicks"]) == (2, 3, 5)
    # The download limit of the link is exact all the same.
    assert await counted(ann, link) == figures(opens=2, people=2, downloads=6, downloads_used=6)


async def test_previews_of_one_network_count_so_often_a_day(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    throttle = VISITS_PER_PAIR.on(satchel.stores.ephemeral)
    await throttle.add(f"203.0.113.1 {link['link_id']}", VISITS_PER_PAIR.times - 2)
    for _ in range(5):
        robot = satchel.caller("203.0.113.1")
        answer = await robot("GET", f"/open/{link['token']}", headers={"user-agent": PREVIEWER})
        assert answer.status_code == 200
    assert await counted(ann, link) == figures(previews=2)


async def test_an_opening_counts_once_if_its_answer_is_lost_and_it_is_asked_again(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    link, other = await given_file(satchel, ann), await given_file(satchel, ann)
    key = {"headers": {"user-agent": AGENT, "idempotency-key": "again"}, "json": {}}
    passes = [(await visitor(satchel, link, caller=bob)("POST", "/enter", **key)).json()["pass"] for _ in range(3)]
    assert all(passes)
    # The key of one visitor of one link says nothing of others.
    await visitor(satchel, other, caller=bob)("POST", "/enter", **key)
    await visitor(satchel, link)("POST", "/enter", **key)
    assert await counted(ann, link) == figures(opens=2, people=2)
    assert await counted(ann, other) == figures(opens=1, people=1)
    refused = await visitor(satchel, link)("POST", "/enter", json={}, headers={"idempotency-key": "no key"})
    assert refused.status_code == 400


async def test_the_owners_own_visits_count_for_nothing(satchel: Satchel, ann: Caller) -> None:
    for wishes, ways in (({"downloads": 1}, ["/content"]), ({}, ["/content", "/preview"])):
        link = await given_file(satchel, ann, **wishes)
        owner = visitor(satchel, link, caller=ann)
        await owner.entered()
        for way in ways * 2:
            assert (await owner("GET", way)).content == CONTENT
        assert await counted(ann, link) == figures()


async def test_a_pass_of_the_owners_is_worth_no_more_to_others_than_their_own(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, downloads=1)
    owner = visitor(satchel, link, caller=ann)
    await owner.entered()
    someone = visitor(satchel, link)
    someone.shown = owner.shown
    assert (await someone("GET", "/content")).content == CONTENT
    assert slug(await someone("GET", "/content")) == (410, "link-used-up")
    assert await counted(ann, link) == figures(people=1, downloads=1, downloads_used=1)
    assert (await owner("GET", "/content")).content == CONTENT


async def test_a_room_is_entered_by_its_door(satchel: Satchel, ann: Caller) -> None:
    room = (await ann("POST", "/rooms", json={"name": "Band"})).json()
    link = await given(ann, "room", room["room_id"], password=RIGHT)
    someone = visitor(satchel, link)
    seen = await someone.look()
    assert (seen["kind"], seen["name"]) == ("room", None)
    assert slug(await someone.enter())[1] == "link-password-needed"
    entered = await someone.entered(RIGHT)
    assert entered["goto"] == room["link"].removeprefix("http://satchel.test")
    assert entered["listing"] is None
    for path in ("/files", "/content", "/preview", "/archive", "/files/x/content"):
        assert (await someone("GET", path)).status_code == 404, path
    assert await counted(ann, link) == figures(opens=1, people=1)
    assert (await ann("DELETE", f"/rooms/{room['room_id']}")).is_success
    assert slug(await someone("GET")) == (410, "link-target-gone")


async def test_without_the_password_nobody_gets_anything(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, "a.txt", password=RIGHT)
    someone = visitor(satchel, link)
    assert slug(await someone.enter()) == (403, "link-password-needed")
    assert slug(await someone.enter("")) == (403, "link-password-needed")
    for wrong in ("wrong", RIGHT.upper(), RIGHT + " ", "\0", "x" * 1000):
        assert slug(await someone.enter(wrong)) == (403, "link-password-wrong")
    for path in ("/files", "/archive", "/files/x/content", "/files/x/preview"):
        assert slug(await someone("GET", path)) == (403, "link-password-needed"), path
        assert (await someone("HEAD", path)).status_code == 403, path
    assert (await someone.enter("x" * 1001)).status_code == 422
    assert await counted(ann, link) == figures()


@pytest.mark.slow
async def test_a_password_tried_a_thousand_times_is_not_found_out(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    guesser = visitor(satchel, link, "198.51.100.1")
    answers = [await guesser.enter(f"wrong {number}") for number in range(1000)]
    told = [slug(each)[1] for each in answers]
    assert told.count("link-password-wrong") == WRONG_PASSWORDS_PER_PAIR.times
    assert told.count("work-needed") == 1000 - WRONG_PASSWORDS_PER_PAIR.times
    assert slug(await guesser.enter(RIGHT)) == (429, "work-needed")
    # Elsewhere the password still opens the link.
    await visitor(satchel, link, "198.51.100.2").entered(RIGHT)
    satchel.clock.advance(timedelta(minutes=15))
    await guesser.entered(RIGHT)


async def test_many_networks_that_guess_keep_nobody_out_who_knows_the_password(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    networks = [f"198.51.{number}.1" for number in range(10)]
    told: list[str] = []
    for network in networks:
        guesser = visitor(satchel, link, network)
        told += [slug(await guesser.enter("wrong"))[1] for _ in range(WRONG_PASSWORDS_PER_PAIR.times)]
    assert told.count("link-password-wrong") == WRONG_PASSWORDS_PER_LINK.times
    late = visitor(satchel, link, "203.0.113.8")
    told = [slug(await late.enter("wrong"))[1] for _ in range(5)]
    assert told == ["link-password-wrong"] * 3 + ["work-needed"] * 2
    await visitor(satchel, link, "203.0.113.9").entered(RIGHT)


@pytest.mark.slow
async def test_many_who_know_the_password_all_get_in(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    for _ in range(4):
        visitors = [visitor(satchel, link) for _ in range(30)]
        answers = await asyncio.gather(*(each.enter(RIGHT) for each in visitors))
        assert {answer.status_code for answer in answers} == {200}
    assert await counted(ann, link) == figures(opens=120, people=1)


async def test_tries_at_the_password_of_a_link_are_not_in_the_way_of_those_who_sign_in(
    satchel: Satchel, ann: Caller, bob: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eighty at once, each with the right password, once held up every sign-in for ten seconds or refused it."""
    with monkeypatch.context() as slowly:
        # What a hash costs is written in it: each of these takes a core for a while.
        slowly.setattr(Passwords, "cost", Cost(passes=12, kibibytes=19 * 1024))
        link = await given_file(satchel, ann, password=RIGHT)
    tries = [asyncio.create_task(visitor(satchel, link, "198.51.100.7").enter(RIGHT)) for _ in range(30)]
    while not any(each.done() for each in tries):
        await asyncio.sleep(0.01)
    assert (await satchel.caller("203.0.113.5").sign_in("bob@example.org")).status_code == 201
    # Somebody else who has the link waits for one of theirs, and not for all.
    await visitor(satchel, link, "203.0.113.6").entered(RIGHT)
    assert sum(each.done() for each in tries) < 15
    for each in tries:
        each.cancel()
    await asyncio.gather(*tries, return_exceptions=True)


async def test_a_guess_among_many_at_once_is_worth_nothing(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    guesser = visitor(satchel, link)
    tried = [f"wrong {number}" for number in range(30)] + [RIGHT]
    answers = await asyncio.gather(*(guesser.enter(each) for each in tried))
    assert slug(answers[-1]) == (429, "work-needed")


async def guessed_out(satchel: Satchel, link: dict[str, Any], address: str = "203.0.113.7") -> Visitor:
    """Somebody who has used up the guesses of their network."""
    guesser = visitor(satchel, link, address)
    for _ in range(WRONG_PASSWORDS_PER_PAIR.times):
        assert slug(await guesser.enter("wrong")) == (403, "link-password-wrong")
    return guesser


def solved(refused: httpx.Response) -> str:
    assert slug(refused) == (429, "work-needed")
    return solve(refused.json()["challenge"], refused.json()["bits"])


async def test_beside_a_guesser_the_right_password_opens_a_link_after_some_seconds(
    satchel: Satchel, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guess_lane, "BITS", 10)
    link = await given_file(satchel, ann, password=RIGHT)
    guesser = await guessed_out(satchel, link)
    # The guesser is the first in the lane, and wrong again.
    assert slug(await guesser.enter("wrong", work=solved(await guesser.enter("wrong"))))[1] == "link-password-wrong"
    someone = visitor(satchel, link)
    refused = await someone.enter(RIGHT)
    waits = await someone.enter(RIGHT, work=solved(refused))
    assert 0 < int(waits.headers["retry-after"]) <= guess_lane.EVERY.total_seconds()
    satchel.clock.advance(guess_lane.EVERY)
    assert (await someone.enter(RIGHT, work=solved(waits))).status_code == 200


async def test_in_the_lane_of_guessers_there_is_one_guess_at_a_time_however_many_work(
    satchel: Satchel, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guess_lane, "BITS", 10)
    link, other = [await given_file(satchel, ann, password=RIGHT) for _ in range(2)]
    guesser = await guessed_out(satchel, link)
    works = [solved(await guesser.enter("wrong")) for _ in range(8)]
    for _ in range(2):
        answers = await asyncio.gather(*(guesser.enter("wrong", work=work) for work in works[:4]))
        told = [slug(answer)[1] for answer in answers]
        assert sorted(told) == ["link-password-wrong"] + ["work-needed"] * 3
        satchel.clock.advance(guess_lane.EVERY)
        # What was used is worth nothing, and neither is what belongs to another link or comes too late.
        assert slug(await guesser.enter(RIGHT, work=works[0])) == (429, "work-needed")
        works = works[4:]
    assert slug(await (await guessed_out(satchel, other)).enter(RIGHT, work=solved(await guesser.enter(RIGHT)))) == (
        429,
        "work-needed",
    )
    late = solved(await guesser.enter(RIGHT))
    satchel.clock.advance(guess_lane.LASTS)
    assert slug(await guesser.enter(RIGHT, work=late)) == (429, "work-needed")


async def test_when_many_networks_guess_all_that_are_out_of_guesses_share_one_lane(
    satchel: Satchel, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guess_lane, "BITS", 10)
    link = await given_file(satchel, ann, password=RIGHT)
    guessers = [await guessed_out(satchel, link, f"198.51.{number}.1") for number in range(10)]
    works = [solved(await each.enter("wrong")) for each in guessers]
    answers = [await each.enter("wrong", work=work) for each, work in zip(guessers, works, strict=True)]
    assert [slug(answer)[1] for answer in answers].count("link-password-wrong") == 1


async def test_a_pass_is_good_for_twelve_hours(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    someone = visitor(satchel, link)
    await someone.entered(RIGHT)
    satchel.clock.advance(LIFETIME - timedelta(seconds=1))
    assert (await someone("GET", "/content")).content == CONTENT
    satchel.clock.advance(1)
    for path in ("/content", "/files", "/preview"):
        assert slug(await someone("GET", path)) == (403, "link-pass-over")
    assert not (await someone.look())["entered"]


async def test_a_pass_ends_with_the_password_and_rests_with_the_link(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password=RIGHT)
    someone = visitor(satchel, link)
    await someone.entered(RIGHT)
    await changed(ann, link, paused=True)
    assert slug(await someone("GET", "/content")) == (403, "link-paused")
    await changed(ann, link, paused=False)
    assert (await someone("GET", "/content")).status_code == 200
    for password in ("another", None, RIGHT):
        await changed(ann, link, password=password)
        assert slug(await someone("GET", "/content")) == (403, "link-pass-over")


async def test_a_pass_without_a_password_ends_when_there_is_one(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    someone = visitor(satchel, link)
    await someone.entered()
    await changed(ann, link, password=RIGHT)
    assert slug(await someone("GET", "/content")) == (403, "link-pass-over")


async def test_a_pass_opens_no_other_link(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    mine, other = await given_file(satchel, ann), await given_file(satchel, bob)
    someone = visitor(satchel, mine)
    await someone.entered()
    someone.token = other["token"]
    assert slug(await someone("GET", "/content")) == (403, "link-pass-over")


@pytest.mark.parametrize("made_up", ["x", "\u0661", "A" * 43, "A" * 100_00, "%00"])
async def test_a_pass_cannot_be_made_up(satchel: Satchel, ann: Caller, made_up: str) -> None:
    someone = visitor(satchel, await given_file(satchel, ann))
    someone.shown = made_up
    assert slug(await someone("GET", "/content")) == (403, "link-pass-over")


async def test_no_letter_of_a_pass_can_be_changed(satchel: Satchel, ann: Caller) -> None:
    someone = visitor(satchel, await given_file(satchel, ann, password=RIGHT))
    good: str = (await someone.entered(RIGHT))["pass"]
    for place in range(0, len(good), 7):
        someone.shown = good[:place] + ("A" if good[place] != "A" else "B") + good[place + 1 :]
        assert slug(await someone("GET", "/content")) == (403, "link-pass-over")
    # A token of a session is signed by the same server for something else.
    someone.shown = ann.tokens["access_token"]
    assert slug(await someone("GET", "/content")) == (403, "link-pass-over")


async def test_what_nobody_understands_is_refused(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    bodies: list[Any] = [{"password": 1}, {"word": "x"}, []]
    someone = visitor(satchel, link)
    for body in bodies:
        assert (await someone("POST", "/enter", json=body)).status_code == 422
    assert (await someone("GET", "", params={"password": "x"})).status_code == 422
    assert await counted(ann, link) == figures()


@pytest.mark.slow
async def test_a_folder_is_listed_to_its_end(satchel: Satchel, ann: Caller) -> None:
    link = await given_folder(satchel, ann, *(f"{number:03}.txt" for number in range(230)))
    someone = visitor(satchel, link)
    page = (await someone.entered())["listing"]
    names = [file["name"] for file in page["files"]]
    while page["cursor"]:
        page = (await someone("GET", "/files", params={"cursor": page["cursor"]})).json()
        names += [file["name"] for file in page["files"]]
    assert names == [f"{number:03}.txt" for number in range(230)]


async def test_a_cursor_leads_nowhere_else(satchel: Satchel, ann: Caller) -> None:
    secret = await made(ann, "Secret")
    await made(ann, "Inner", secret)
    link = await given_folder(satchel, ann, "a.txt")
    someone = visitor(satchel, link)
    for cursor in (f'["{secret}",""]', '["root",""]', '["",""]', "x", "[1]"):
        answer = await someone("GET", "/files", params={"cursor": cursor})
        assert answer.status_code in (409, 422), cursor
