"""Signing, ids and time: what everything else believes without looking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.clock import ManualClock, from_iso, iso
from satchel.kernel.ids import derived_id, new_id, new_secret
from satchel.kernel.signature import BadSignature, Signer

SIGNER = Signer(b"s" * 32)


@given(st.binary(max_size=200))
def test_what_was_signed_opens_again(payload: bytes) -> None:
    assert SIGNER.open("access", SIGNER.sign("access", payload)) == payload


@given(st.binary(max_size=60), st.data())
def test_a_token_changed_anywhere_is_worthless(payload: bytes, data: st.DataObject) -> None:
    token = SIGNER.sign("access", payload)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("ABCDEFGHabcdefgh0123-_=!é").filter(lambda letter: letter != token[place]))
    changed = token[:place] + other + token[place + 1 :]
    with pytest.raises(BadSignature):
        SIGNER.open("access", changed)


@pytest.mark.parametrize("token", ["", "a", "!!!!", "é", "A" * 43, "A" * 44, " ", "\x00"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(BadSignature):
        SIGNER.open("access", token)


def test_a_token_for_one_purpose_or_of_another_server_is_refused() -> None:
    token = SIGNER.sign("guest", b"ann")
    with pytest.raises(BadSignature):
        SIGNER.open("access", token)
    with pytest.raises(BadSignature):
        Signer(b"t" * 32).open("guest", token)


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Signer(b"short")


def test_ids_sort_by_the_time_they_were_made_and_never_repeat() -> None:
    clock = ManualClock()
    made: list[str] = []
    for _ in range(200):
        made.append(new_id(clock))
        clock.advance(0.002)
    assert made == sorted(made)
    assert len(set(made)) == 200
    assert {len(each) for each in made} == {26}
    assert new_secret() != new_secret()


@given(st.integers(0, 4_000_000_000_000))
def test_stored_times_keep_milliseconds_and_sort_as_text(milliseconds: int) -> None:
    moment = milliseconds / 1000
    assert round(from_iso(iso(moment)) * 1000) == milliseconds
    assert len(iso(moment)) == 24
    assert (iso(moment) < iso(moment + 0.001)) is True


def test_the_id_of_a_part_follows_from_the_whole_and_is_as_old() -> None:
    whole, other = new_id(ManualClock()), new_id(ManualClock())
    ids = [derived_id(each, part) for each in (whole, other) for part in ("0", "1")]
    assert ids == [derived_id(each, part) for each in (whole, other) for part in ("0", "1")]
    assert len(set(ids)) == 4
    assert {(each[:10], len(each)) for each in ids} == {(whole[:10], 26)}
    assert set("".join(ids)) <= set("0123456789abcdefghjkmnpqrstvwxyz")
