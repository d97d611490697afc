"""Two who know the same code come to the same secret, as the draft has it; who does not know it comes to nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from satchel.cli.drop.crypto.cpace import (
    BadShare,
    Door,
    Guest,
    WrongDoor,
    WrongTag,
    confirmation,
    generator,
    generator_string,
    lv_cat,
    scalar_mult,
    session_key,
    transcript_ir,
)
from satchel.cli.drop.crypto.session_keys import Secret

DRAFT: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "cpace.json").read_text(encoding="utf-8"))
EXCHANGE = {key: bytes.fromhex(value) for key, value in DRAFT["exchange"].items()}
SCALAR = bytes.fromhex(DRAFT["scalar"])
POINTS = [(bytes.fromhex(point["point"]), bytes.fromhex(point["result"])) for point in DRAFT["points"]]
LOW_ORDER = [point for point, result in POINTS if not any(result)]

NAME, SESSION, KNOCK = "amber-otter-27", "5e" * 16, "0c" * 16
SECRET = Secret(bytes(range(16)))


def guest(code: str = "481902", name: str = NAME, session_id: str = SESSION, knock_id: str = KNOCK) -> Guest:
    return Guest(code, name, session_id, knock_id)


def door(share: bytes, code: str = "481902") -> Door:
    return Door(code, NAME, SESSION, KNOCK, SECRET, share)


def test_the_generator_is_the_drafts() -> None:
    assert generator(EXCHANGE["PRS"], EXCHANGE["CI"], EXCHANGE["sid"]) == EXCHANGE["g"]


def test_both_sides_come_to_the_drafts_session_key() -> None:
    ya, yb = EXCHANGE["Ya"], EXCHANGE["Yb"]
    assert scalar_mult(EXCHANGE["ya"], EXCHANGE["g"]) == ya
    assert scalar_mult(EXCHANGE["yb"], EXCHANGE["g"]) == yb
    assert scalar_mult(EXCHANGE["ya"], yb) == scalar_mult(EXCHANGE["yb"], ya) == EXCHANGE["K"]
    transcript = transcript_ir(ya, EXCHANGE["ADa"], yb, EXCHANGE["ADb"])
    assert session_key(EXCHANGE["sid"], EXCHANGE["K"], transcript) == EXCHANGE["ISK_IR"]


@pytest.mark.parametrize(("point", "result"), POINTS, ids=lambda value: value.hex()[:8])
def test_points_of_low_order_are_refused_and_those_that_only_look_like_it_are_not(point: bytes, result: bytes) -> None:
    if any(result):
        assert scalar_mult(SCALAR, point) == result
    else:
        with pytest.raises(BadShare):
            scalar_mult(SCALAR, point)


def test_lengths_are_written_in_seven_bits_a_byte() -> None:
    assert lv_cat(b"1234", b"5", b"", b"678") == b"\x041234\x015\x00\x03678"
    assert lv_cat(bytes(127))[:2] == b"\x7f\x00"
    assert lv_cat(bytes(128))[:3] == b"\x80\x01\x00"
    assert lv_cat(bytes(300))[:3] == b"\xac\x02\x00"


def test_whatever_the_length_of_a_code_the_first_block_that_is_hashed_holds_nothing_else() -> None:
    for length in range(1, 60):
        assert generator_string(b"p" * length, b"CI", b"sid")[128:] == lv_cat(b"CI", b"sid")


def test_a_guest_who_knows_the_code_is_handed_the_secret() -> None:
    visitor = guest(" 481 902")
    host = door(visitor.share)
    assert visitor.open(*host.verdict(visitor.tag(host.share))) == SECRET


@pytest.mark.parametrize(
    "visitor",
    [
        guest(code="481903"),
        guest(name="amber-otter-28"),
        guest(session_id="5f" * 16),
        guest(knock_id="0d" * 16),
    ],
    ids=["code", "name", "session", "knock"],
)
def test_a_guest_who_is_wrong_in_anything_is_handed_nothing(visitor: Guest) -> None:
    host = door(visitor.share)
    with pytest.raises(WrongTag):
        host.verdict(visitor.tag(host.share))


def test_the_doors_own_tag_is_no_guess() -> None:
    visitor = guest()
    host = door(visitor.share)
    tag_back, _ = host.verdict(visitor.tag(host.share))
    with pytest.raises(WrongTag):
        host.verdict(tag_back)


@pytest.mark.parametrize("point", LOW_ORDER, ids=lambda value: value.hex()[:8])
def test_neither_side_goes_on_with_a_share_that_makes_zero(point: bytes) -> None:
    with pytest.raises(BadShare):
        door(point)
    with pytest.raises(BadShare):
        guest().tag(point)


@pytest.mark.parametrize("share", [b"", bytes(31), b"x" * 33])
def test_a_share_of_another_length_is_refused(share: bytes) -> None:
    with pytest.raises(BadShare):
        door(share)


def test_a_door_that_does_not_know_the_code_is_noticed() -> None:
    visitor = guest()
    impostor = door(visitor.share, code="000000")
    visitor.tag(impostor.share)
    tag_back = confirmation(impostor.sid, impostor.isk, impostor.share, b"door")
    with pytest.raises(WrongDoor):
        visitor.open(tag_back, bytes(45))


def test_no_box_opens_without_the_tag_of_its_door() -> None:
    visitor = guest()
    host = door(visitor.share)
    tag_back, box = host.verdict(visitor.tag(host.share))
    for wrong in (b"", tag_back[:-1], bytes(len(tag_back))):
        with pytest.raises(WrongDoor):
            visitor.open(wrong, box)
    assert visitor.open(tag_back, box) == SECRET


def test_a_guest_opens_nothing_before_its_guess_is_spent() -> None:
    with pytest.raises(ValueError, match="sends its tag before"):
        guest().open(b"", b"")


def test_the_box_of_another_knock_does_not_open() -> None:
    visitor, another = guest(), Guest("481902", NAME, SESSION, "0d" * 16)
    host = door(visitor.share)
    other_host = Door("481902", NAME, SESSION, "0d" * 16, SECRET, another.share)
    tag_back, _ = host.verdict(visitor.tag(host.share))
    _, other_box = other_host.verdict(another.tag(other_host.share))
    with pytest.raises(WrongDoor):
        visitor.open(tag_back, other_box)
