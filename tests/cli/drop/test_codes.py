"""People type and paste invitations as they like; what cannot be one is refused before a guess is spent."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.crypto.codes import Invitation, link, new_code, normalised, read_invitation, spoken, word_list
from satchel.cli.drop.crypto.session_keys import Secret, UnknownSuite
from satchel.cli.engine.terminal.output import CommandFailed, Misused

WEB_WORDS = Path(__file__).parents[3] / "web" / "src" / "lib" / "drop" / "crypto" / "words.json"
SECRET = Secret(bytes(range(16)))


@pytest.mark.slow
def test_there_are_256_words_that_nobody_mistakes_for_each_other() -> None:
    words = word_list()
    assert len(words) == 256
    assert list(words) == sorted(words)
    assert len({word[:4] for word in words}) == 256
    assert all(word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 9 for word in words)
    assert not [(a, b) for a in words for b in words if a < b and _slips(a, b) < 3]


def test_the_browser_has_the_same_words() -> None:
    assert json.loads(WEB_WORDS.read_text(encoding="utf-8")) == list(word_list())


@pytest.mark.parametrize("words", [False, True])
def test_a_new_code_is_read_as_it_was_made_and_not_made_twice(words: bool) -> None:
    codes = {new_code(words) for _ in range(50)}
    assert len(codes) > 45
    for code in codes:
        assert normalised(code) == code
        invitation = read_invitation(spoken("amber-otter-27", code))
        assert invitation == Invitation(name="amber-otter-27", code=code, secret=None, server=None)


@given(st.integers(0, 999_999), st.lists(st.sampled_from(" -.,\t_/"), min_size=6, max_size=6))
def test_whatever_stands_between_digits_they_are_the_same_code(number: int, between: list[str]) -> None:
    digits = f"{number:06}"
    assert normalised("".join(digit + mark for digit, mark in zip(digits, between, strict=True))) == digits


def test_a_link_says_which_server_it_belongs_to() -> None:
    invitation = read_invitation(link("https://satchel.example:8443/drop/amber-otter-27", SECRET))
    assert invitation == Invitation("amber-otter-27", code=None, secret=SECRET, server="https://satchel.example:8443")


def test_a_link_of_a_newer_program_asks_to_update() -> None:
    with pytest.raises(UnknownSuite, match="update satchel"):
        read_invitation("https://satchel.example/drop/amber-otter-27#AwABAgMEBQYHCAkKCwwNDg8")


def test_a_word_that_no_code_has_is_named() -> None:
    with pytest.raises(Misused, match="zagzig is not a word"):
        read_invitation("amber-otter-27-acorn-tulip-zagzig")


@given(st.text())
def test_anything_that_is_typed_is_an_invitation_or_is_refused_in_a_sentence(text: str) -> None:
    try:
        invitation = read_invitation(text)
    except CommandFailed as refusal:
        assert str(refusal).endswith(".")
    else:
        assert (invitation.code is None) or normalised(invitation.code) == invitation.code


def _slips(one: str, other: str) -> int:
    """How many letters must be put in, left out or exchanged to make one word of the other."""
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one, 1):
        above, row = row, [index]
        for column, wanted in enumerate(other, 1):
            row.append(min(above[column] + 1, row[-1] + 1, above[column - 1] + (letter != wanted)))
    return row[-1]
