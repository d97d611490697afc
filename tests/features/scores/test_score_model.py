"""Ids, names and strokes, against the forms that were there before Satchel."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.features.scores.model import check_title, public_id, read_id, stored_id
from satchel.features.scores.routes.score_uploads import guessed_title
from satchel.kernel import ink
from satchel.kernel.errors import Invalid

TELLING = "742bdfdc-4203-45aa-bd71-bca716d26421"
number = st.integers(-20_000, 20_000)


def test_an_id_has_its_first_groups_low_byte_first() -> None:
    assert stored_id(uuid.UUID(TELLING)) == "3N8rdANCqkW9cbynFtJkIQ"
    assert public_id("3N8rdANCqkW9cbynFtJkIQ") == TELLING


@given(st.uuids())
def test_ids_come_back(made: uuid.UUID) -> None:
    assert read_id(str(made)) == stored_id(made)
    assert public_id(stored_id(made)) == str(made)


@pytest.mark.parametrize("text", ["", "x", TELLING.upper(), TELLING + "\n", "3N8rdANCqkW9cbynFtJkIQ", "../" + TELLING])
def test_what_is_no_id_is_none(text: str) -> None:
    assert read_id(text) is None


def test_a_title_is_one_line_that_can_be_seen() -> None:
    assert check_title(" Abend\u202e\n lied ") == "Abend lied"
    assert len(check_title("x" * 128)) == 128
    for bad in ("", "   ", "\u200b", "x" * 129):
        with pytest.raises(Invalid):
            check_title(bad)


def test_a_title_is_guessed_from_the_name_of_a_file() -> None:
    names = ["Bach_-_Air.png", "02 Largo.jpeg", ".png", "a.b.c"]
    assert [guessed_title(name) for name in names] == ["Bach - Air", "02 Largo", "png", "a.b"]


@given(st.lists(st.tuples(number, number, st.integers(0, 255)), max_size=50))
def test_a_stroke_comes_back(points: list[ink.Point]) -> None:
    assert ink.decode(ink.encode(points)) == points


def test_a_stroke_has_the_form_that_is_documented() -> None:
    assert ink.encode([(0, 0, 128), (1, -1, 128), (100, 50, 127)]) == "AAgICBAmGmDB"
    for broken in ("A", "AA", "AAg", "A A", "ggggggg", "ÄAA"):
        with pytest.raises(ink.BadStroke):
            ink.decode(broken)
