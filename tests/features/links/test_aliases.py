"""A word of one's own in the address of a link, and a time before which it does not open."""

from datetime import timedelta

from satchel.features.links.limits import UNKNOWN_LINKS_PER_ACCOUNT, UNKNOWN_LINKS_PER_NETWORK
from satchel.features.links.service.link_change import REMEMBERED
from satchel.kernel.clock import iso
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, change, changed, give, given, given_file, read


def slug(answer: object) -> str:
    return answer.json()["type"].rpartition("#")[2]  # type: ignore[attr-defined]


async def test_a_word_leads_to_the_link_until_it_is_taken_away(satchel: Satchel, bob: Caller, ann: Caller) -> None:
    link = await given_file(satchel, bob, alias="Summer-Trip", password="swordfish")
    assert (link["alias"], link["address"].rpartition("/")[2]) == ("summer-trip", "summer-trip")
    stranger = satchel.caller("192.0.2.1")
    for name in ("summer-trip", "SUMMER-trip", link["token"]):
        entered = await stranger("POST", f"/open/{name}/enter", json={"password": "swordfish"})
        assert entered.status_code == 200, name
        content = await stranger("GET", f"/open/{name}/content", params={"pass": entered.json()["pass"]})
        assert content.content == CONTENT
    # Nobody else can have it, nor take it away.
    file = {"kind": "file", "id": link["thing"]["id"]}
    taken = await give(bob, kind=file["kind"], thing_id=file["id"], alias="summer-trip")
    assert (taken.status_code, slug(taken), taken.json()["field"]) == (409, "alias-taken", "alias")
    other = await given(bob, "file", file["id"], alias="winter")
    assert slug(await change(bob, other, alias="summer-trip")) == "alias-taken"
    assert (await read(bob, other))["alias"] == "winter"
    assert slug(await change(ann, link, alias="mine")) == "link-unknown"
    # Given back, it is free.
    assert (await changed(bob, link, alias=None))["alias"] is None
    assert slug(await stranger("GET", "/open/summer-trip")) == "link-unknown"
    assert (await changed(bob, other, alias="summer-trip"))["alias"] == "summer-trip"
    assert (await stranger("GET", "/open/summer-trip")).status_code == 200
    assert slug(await stranger("GET", "/open/winter")) == "link-unknown"
    for wrong in ("ab", "a" * 21, "with space", "-x-", "ünï", "a--b", "a/b", "a#b"):
        answer = await change(bob, link, alias=wrong)
        assert (answer.status_code, answer.json()["field"]) == (422, "alias"), wrong
    # Revoked, it says so for a while. Then the word is free again.
    assert (await bob("DELETE", f"/links/{other['link_id']}")).status_code == 204
    assert slug(await stranger("GET", "/open/summer-trip")) == "link-revoked"
    satchel.clock.now += REMEMBERED.total_seconds() + 1
    await satchel.housekeep()
    await bob.sign_in("bob@example.org")
    assert (await changed(bob, link, alias="summer-trip"))["alias"] == "summer-trip"


async def test_who_guesses_words_gets_no_right_one_either(satchel: Satchel, bob: Caller) -> None:
    link = await given_file(satchel, bob, alias="beach")
    guesser, other = satchel.caller("192.0.2.1"), satchel.caller("192.0.2.2")
    for number in range(UNKNOWN_LINKS_PER_NETWORK.times):
        assert (await guesser("GET", f"/open/guess-{number}")).status_code == 404
    for path in ("/open/beach", "/open/another"):
        assert (await guesser("GET", path)).status_code == 429
    # Whoever has the address with the token, and everybody elsewhere, is not hindered.
    assert (await guesser("GET", f"/open/{link['token']}")).status_code == 200
    assert (await other("GET", "/open/beach")).status_code == 200


async def test_what_others_of_a_network_guess_keeps_nobody_out_who_has_entered_or_is_signed_in(
    satchel: Satchel, bob: Caller, ann: Caller
) -> None:
    await given_file(satchel, bob, alias="beach")
    visitor, guesser = satchel.caller("192.0.2.1"), satchel.caller("192.0.2.1")
    shown = {"pass": (await visitor("POST", "/open/beach/enter", json={})).json()["pass"]}
    other = await given_file(satchel, bob, alias="forest")
    for number in range(UNKNOWN_LINKS_PER_NETWORK.times):
        assert (await guesser("GET", f"/open/guess-{number}")).status_code == 404
    assert (await visitor("GET", "/open/beach/content", params=shown)).content == CONTENT
    assert (await visitor("GET", "/open/beach", params=shown)).json()["entered"]
    # A pass is for one link alone: it does not help with the words of others.
    for wrong in (shown, {"pass": "x"}):
        assert (await visitor("GET", "/open/forest", params=wrong)).status_code == 429
    for member in (ann, bob):
        signed_in = satchel.caller("192.0.2.1")
        signed_in.tokens = member.tokens
        assert (await signed_in("GET", "/open/beach")).status_code == 200
    # Whoever is signed in is held against their own guesses.
    for number in range(UNKNOWN_LINKS_PER_ACCOUNT.times):
        assert (await ann("GET", f"/open/guess-{number}")).status_code == 404
    assert (await ann("GET", "/open/beach")).status_code == 429
    assert (await ann("GET", f"/open/{other['token']}")).status_code == 200
    assert (await bob("GET", "/open/beach")).status_code == 200


async def test_a_link_opens_at_its_time(satchel: Satchel, bob: Caller) -> None:
    opens, ends = (iso(satchel.clock() + delay.total_seconds()) for delay in (timedelta(minutes=5), timedelta(hours=1)))
    link = await given_file(satchel, bob, starts_at=opens, expires_at=ends)
    assert (link["state"], link["starts_at"]) == ("not-yet", opens)
    stranger = satchel.caller()
    for method, path in (("GET", ""), ("POST", "/enter"), ("GET", "/content")):
        answer = await stranger(method, f"/open/{link['token']}{path}", json={} if method == "POST" else None)
        assert (answer.status_code, slug(answer)) == (403, "link-not-yet")
    assert (await change(bob, link, starts_at=ends)).json()["field"] == "starts_at"
    assert (await change(bob, link, expires_at=iso(satchel.clock() + 60))).json()["field"] == "starts_at"
    satchel.clock.now += 5 * 60
    assert (await stranger("GET", f"/open/{link['token']}")).status_code == 200
    assert (await read(bob, link))["state"] == "active"
    later = iso(satchel.clock() + 120)
    assert (await changed(bob, link, starts_at=later))["state"] == "not-yet"
    assert (await changed(bob, link, starts_at=None))["state"] == "active"
