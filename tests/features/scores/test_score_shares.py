"""Scores that are shared by e-mail: what readers, markers and editors may do, and that it ends."""

from tests.application import Caller, Satchel
from tests.features.scores.given import (
    changed,
    layered,
    marked,
    marks,
    paged,
    pen,
    read,
    slug,
    stored_score,
    with_pages,
)
from tests.features.scores.test_marks import look

BOB = "bob@example.org"


async def test_a_role_says_what_somebody_may_do(ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}"
    assert slug(await bob("GET", path)) == "score-unknown"
    share = (await ann("PUT", f"{path}/shares/BOB@example.org", json={})).json()
    assert (share["email"], share["role"], share["name"]) == (BOB, "reader", "bob")
    assert (await read(bob, score))["role"] == "reader"
    assert [each["role"] for each in (await bob("GET", "/scores")).json()["scores"]] == ["reader"]
    assert (await bob("GET", "/scores", params={"mine": "true"})).json()["scores"] == []
    assert (await bob("POST", f"{path}/layers", json={"name": "B"})).status_code == 403
    for role, expected in (("marker", 403), ("editor", 200)):
        assert (await ann("PUT", f"{path}/shares/{BOB}", json={"role": role})).is_success
        layer = await layered(bob, score, published=True)
        await marked(bob, score, layer, add=[pen(score)])
        assert (await changed(bob, await read(bob, score), title="Bob's")).status_code == expected
    assert len(await marks(ann, score)) == 2
    for method, where in (("DELETE", path), ("GET", f"{path}/shares"), ("PUT", f"{path}/shares/c@example.org")):
        assert (await bob(method, where, json={} if method == "PUT" else None)).status_code == 403
    assert (await changed(bob, await read(bob, score), access="public")).status_code == 403
    listed = (await ann("GET", f"{path}/shares")).json()["shares"]
    assert [(each["email"], each["role"]) for each in listed] == [(BOB, "editor")]


async def test_sharing_ends_at_once(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}"
    for end in (ann("DELETE", f"{path}/shares/{BOB}"), bob("DELETE", f"{path}/membership")):
        assert (await ann("PUT", f"{path}/shares/{BOB}", json={"role": "editor"})).is_success
        await look(bob, score)
        assert (await end).status_code == 204
        assert slug(await bob("GET", path)) == "score-unknown"
        assert slug(await paged(bob, score)) == "score-unknown"
        assert (await bob("GET", "/scores")).json()["scores"] == []
        assert await look(ann, score) == ["ann"]
    assert slug(await bob("DELETE", f"{path}/membership")) == "score-unknown"
    assert (await ann("PUT", f"{path}/shares/ann@example.org", json={})).status_code == 422
    assert (await ann("PUT", f"{path}/shares/nobody", json={})).status_code == 422
    assert (await stored_score(satchel, ann, score))["e"] == score["etag"]


async def test_a_score_waits_for_somebody_without_an_account(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 1)
    path = f"/scores/{score['score_id']}"
    share = (await ann("PUT", f"{path}/shares/new@example.org", json={"role": "marker"})).json()
    assert share["name"] is None
    new = satchel.caller()
    await new.sign_up("new@example.org")
    assert (await read(new, score))["role"] == "marker"
    assert (await ann("DELETE", path)).status_code == 204
    assert (await new("GET", "/scores")).json()["scores"] == []
