"""Who is calling: tokens that are good, and every way in which one is not."""

from datetime import timedelta

import pytest

from satchel.edge.api.identity import ACCESS_COOKIE, GUEST_COOKIE, CookieDead, Identity, TokenExpired
from satchel.edge.http.callers import Admin, Caller, Guest, Member, Stranger
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Unauthenticated
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from tests.edge.given import ADA, ANN, GUS, Edge, slug


async def seen(identity: Identity, query: bytes = b"", **headers: str) -> Caller:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return await identity.caller_of({"type": "http", "headers": raw, "query_string": query})


async def test_nothing_shown_is_a_stranger(identity: Identity) -> None:
    assert await seen(identity) == Stranger()
    assert await seen(identity, cookie=f"{ACCESS_COOKIE}=; other=1; {GUEST_COOKIE}") == Stranger()


async def test_a_member_is_recognised_by_header_and_by_cookie(identity: Identity) -> None:
    token = identity.issue_access(ANN).value
    assert await seen(identity, authorization=f"Bearer {token}") == ANN
    assert await seen(identity, authorization=f"bearer  {token}") == ANN
    assert await seen(identity, cookie=f"a=b; {ACCESS_COOKIE}={token}; c=d") == ANN


async def test_an_administrator_comes_as_one(identity: Identity) -> None:
    caller = await seen(identity, authorization=f"Bearer {identity.issue_access(ADA).value}")
    assert isinstance(caller, Admin)
    assert (caller.email, caller.admin) == (ADA.email, True)


async def test_a_guest_is_recognised_by_header_and_by_cookie(identity: Identity) -> None:
    token = identity.issue_guest(GUS).value
    assert await seen(identity, authorization=f"Bearer {token}") == GUS
    assert await seen(identity, cookie=f"{GUEST_COOKIE}={token}") == GUS


async def test_a_member_with_a_guest_cookie_is_a_member(identity: Identity) -> None:
    cookie = f"{GUEST_COOKIE}={identity.issue_guest(GUS).value}; {ACCESS_COOKIE}={identity.issue_access(ANN).value}"
    assert await seen(identity, cookie=cookie) == ANN


async def test_the_header_counts_alone_when_cookies_come_with_it(identity: Identity) -> None:
    cookie = f"{ACCESS_COOKIE}={identity.issue_access(ANN).value}"
    guest = identity.issue_guest(GUS).value
    assert await seen(identity, cookie=cookie, authorization=f"Bearer {guest}") == GUS
    with pytest.raises(Unauthenticated):
        await seen(identity, cookie=cookie, authorization="Bearer nonsense")


async def test_a_token_in_the_query_is_not_looked_at(identity: Identity) -> None:
    token = identity.issue_access(ANN).value.encode()
    assert await seen(identity, query=b"access_token=" + token + b"&satchel_access=" + token) == Stranger()


async def test_an_access_token_says_when_it_has_run_out_so_that_the_client_refreshes_it(
    identity: Identity, clock: ManualClock
) -> None:
    token = identity.issue_access(ANN)
    clock.now = token.expires - 1
    assert await seen(identity, authorization=f"Bearer {token.value}") == ANN
    clock.now = token.expires
    with pytest.raises(TokenExpired):
        await seen(identity, authorization=f"Bearer {token.value}")
    with pytest.raises(TokenExpired):
        await seen(identity, cookie=f"{ACCESS_COOKIE}={token.value}")


async def test_a_guest_pass_runs_out(identity: Identity, clock: ManualClock) -> None:
    token = identity.issue_guest(GUS)
    clock.now = token.expires
    with pytest.raises(Unauthenticated, match="guest pass has expired"):
        await seen(identity, authorization=f"Bearer {token.value}")
    with pytest.raises(CookieDead) as dead:
        await seen(identity, cookie=f"{GUEST_COOKIE}={token.value}")
    assert dead.value.forgets_cookie == GUEST_COOKIE


@pytest.mark.parametrize("place", ["header", ACCESS_COOKIE, GUEST_COOKIE])
async def test_forged_and_changed_tokens_are_refused(identity: Identity, place: str) -> None:
    good = identity.issue_access(ANN).value
    other = Identity(Signer(b"other secret, at least 32 bytes.."), MemoryEphemeral(ManualClock(), 1000))
    swapped = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    for token in ("x", "é", good + "A", good[1:], swapped, other.issue_access(ANN).value, "A" * 5000):
        with pytest.raises(Unauthenticated) as refused:
            if place == "header":
                await seen(identity, authorization=f"Bearer {token}")
            else:
                await seen(identity, cookie=f"{place}={token}")
        assert refused.value.slug == "unauthenticated"


async def test_a_guest_pass_is_no_access_token_and_the_other_way_round(identity: Identity) -> None:
    with pytest.raises(Unauthenticated):
        await seen(identity, cookie=f"{ACCESS_COOKIE}={identity.issue_guest(GUS).value}")
    with pytest.raises(Unauthenticated):
        await seen(identity, cookie=f"{GUEST_COOKIE}={identity.issue_access(ANN).value}")


@pytest.mark.parametrize("value", ["Basic YTpi", "Bearer", "Bearer ", ""])
async def test_other_schemes_are_refused(identity: Identity, value: str) -> None:
    with pytest.raises(Unauthenticated):
        await seen(identity, authorization=value)


async def test_a_revoked_session_is_refused_until_its_last_token_has_run_out(
    identity: Identity, ephemeral: MemoryEphemeral, clock: ManualClock
) -> None:
    ann = f"Bearer {identity.issue_access(ANN).value}"
    elsewhere = Member(ANN.user_id, ANN.email, "s-other")
    await identity.revoke(ANN.session_id)
    with pytest.raises(Unauthenticated, match="session has ended"):
        await seen(identity, authorization=ann)
    assert await seen(identity, authorization=f"Bearer {identity.issue_access(elsewhere).value}") == elsewhere
    clock.advance(identity.access_lifetime - timedelta(seconds=1))
    with pytest.raises(Unauthenticated, match="session has ended"):
        await seen(identity, authorization=ann)
    clock.advance(1)
    with pytest.raises(TokenExpired):
        await seen(identity, authorization=ann)


async def test_a_client_can_tell_an_expired_token_from_a_bad_one(edge: Edge, clock: ManualClock) -> None:
    router = edge.router()

    @router.get("/me")
    async def me(caller: Guest | Member) -> None: ...

    expired = edge.bearer(ANN)
    clock.advance(edge.identity.access_lifetime)
    client = edge.client()
    answer = await client.get("/api/v1/me", headers=expired)
    assert (answer.status_code, slug(answer.json())) == (401, "token-expired")
    assert answer.headers["www-authenticate"] == 'Bearer realm="satchel", error="invalid_token"'
    answer = await client.get("/api/v1/me", headers={"authorization": "Bearer x"})
    assert (answer.status_code, slug(answer.json())) == (401, "unauthenticated")
