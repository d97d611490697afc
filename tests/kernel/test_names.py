"""What a file may be called: any name comes out storable and readable, and cleaning twice changes nothing more."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from satchel.kernel.names import (
    MAX_NAME_BYTES,
    MAX_NAME_UNITS,
    FileName,
    clean_name,
    clean_path,
    folded,
    kept_name,
    kept_numbered,
    kept_path,
    name_key,
    numbered,
    sameness,
)

PIECES = ["/", "\\", ".", "..", " ", "con", "NUL", "COM1", ".tar", ".gz", "é", "e\u0301", "\u202e", "\u200d", "🏳️‍🌈"]
pieces = st.one_of(st.sampled_from(PIECES), st.characters())
awkward = st.one_of(
    st.text(max_size=400),
    st.lists(pieces, max_size=40).map("".join),
    st.lists(pieces, min_size=2, max_size=4).map((" " * 250).join),
)


@pytest.mark.parametrize(
    ("written", "cleaned"),
    [
        ("photo.jpg", "photo.jpg"),
        ("holiday/beach/photo.jpg", "photo.jpg"),
        ("C:\\Users\\ann\\photo.jpg", "photo.jpg"),
        ("../../etc/passwd", "passwd"),
        ("holiday/..", "holiday"),
        (".htaccess", "htaccess"),
        ("  spaced out .txt ", "spaced out .txt"),
        ("trailing dots...", "trailing dots"),
        ("new\nline\x00\x7f.txt", "newline.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("\u2067right\u2069.txt", "right.txt"),
        ("cafe\u0301.txt", "caf\u00e9.txt"),
        ('6" "quoted" <b>.txt', '6" "quoted" <b>.txt'),
        ("👩‍👩‍👧 family 🏴󠁧󠁢󠁳󠁣󠁴󠁿.png", "👩‍👩‍👧 family 🏴󠁧󠁢󠁳󠁣󠁴󠁿.png"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("com¹.tar.gz", "_com¹.tar.gz"),
        ("console.log", "console.log"),
        ("con" + " " * 300 + "x.txt", "_con.txt"),
        ("a" * 300 + ".jpeg", "a" * 250 + ".jpeg"),
        ("é" * 200, "é" * 127),
    ],
)
def test_a_name_keeps_what_can_be_kept(written: str, cleaned: str) -> None:
    assert clean_name(written) == cleaned


@pytest.mark.parametrize("written", ["", ".", "..", "/", "\\", " . ", "\u202e", "\x00", "\ud800", "\u200d", "../.."])
def test_of_some_names_nothing_is_left(written: str) -> None:
    assert clean_name(written) is None


@given(awkward)
@example("con" + " " * 300 + "x.txt")
def test_whatever_is_written_becomes_a_name_for_every_system(written: str) -> None:
    name = clean_name(written)
    if name is None:
        return
    assert 1 <= len(name.encode()) <= MAX_NAME_BYTES
    assert not {"/", "\\", "\x00", "\u202e", "\u2066"} & set(name)
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)
    assert name[0] not in ". "
    assert name[-1] not in ". "
    assert name.partition(".")[0].rstrip().upper() not in ("CON", "NUL", "COM1")
    assert unicodedata.is_normalized("NFC", name)
    assert clean_name(name) == name


@given(awkward, st.integers(1, 10**6))
def test_a_numbered_name_is_a_clean_one_too_and_keeps_its_extension(written: str, number: int) -> None:
    name = clean_name(written)
    if name is None:
        return
    other = numbered(name, number)
    assert f" ({number})" in other
    assert clean_name(other) == other
    assert sameness(other) != sameness(name)
    # Within the limit of a sort key whatever is escaped in it.
    assert len(sameness(other).replace("%", "%25").replace("#", "%23").encode()) < 1000


def test_numbers_stand_before_the_extension() -> None:
    names = [clean_name(written) for written in ("a.txt", "a.tar.gz", "a", "v1. Final draft")]
    assert [numbered(name, 1) for name in names if name] == [
        "a (1).txt",
        "a (1).tar.gz",
        "a (1)",
        "v1. Final draft (1)",
    ]


@given(st.lists(awkward, max_size=6).map("/".join))
def test_a_path_becomes_clean_names_and_nothing_else(written: str) -> None:
    path = clean_path(written)
    assert [clean_name(name) for name in path] == path
    assert clean_path("/".join(path)) == path
    assert clean_path("../" + written + "/..") == path
    assert len(path) <= len(re.split(r"[/\\]", written))


@given(awkward)
def test_what_is_folded_stays_so_and_matches_however_it_is_written(written: str) -> None:
    name = clean_name(written)
    if name is None:
        return
    assert folded(folded(name)) == folded(name)
    assert folded(unicodedata.normalize("NFD", name)) == folded(name)


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        "trail.",
        " lead",
        "CON",
        "a:b",
        "a*?",
        "back\\slash",
        "new\nline",
        "end.txt\n",
        "e\u0301",
        "\u202egpj.exe",
        "...",
        " ",
        "-rf",
    ],
)
def test_a_name_is_kept_as_it_is(name: str) -> None:
    assert kept_name(name) == name
    assert kept_path(f"/a//../{name}/./b") == ["a", name, "b"]


@pytest.mark.parametrize("written", ["", ".", "..", "/", "a/..", "\0", "../.."])
def test_what_is_no_name_is_none(written: str) -> None:
    assert kept_name(written) in (None, "a")
    assert not {"", ".", ".."} & set(kept_path(written))


def test_every_character_is_kept_and_no_two_names_are_taken_for_one() -> None:
    names = [FileName(name) for name in every_character()]
    assert [kept_path(name) for name in names] == [[name] for name in names]
    assert len({name_key(name) for name in names}) == len(names) > 10_000


def every_character() -> list[str]:
    """Names in which, taken together, every character of Unicode stands that a system allows in one."""
    letters = [chr(code) for code in range(1, 0x110000) if code != ord("/") and not 0xD800 <= code <= 0xDFFF]
    return ["".join(letters[start : start + 60]) for start in range(0, len(letters), 60)]


@given(awkward, awkward, st.integers(1, 10**6))
def test_names_that_differ_have_keys_that_differ(one: str, other: str, number: int) -> None:
    names = [name for name in (kept_name(one), kept_name(other)) if name is not None]
    names += [kept_numbered(name, number) for name in names]
    keys = {name: name_key(name) for name in names}
    assert len(set(keys.values())) == len(keys)
    for name, key in keys.items():
        assert len(name.encode("utf-16-le")) <= 2 * MAX_NAME_UNITS
        # Within the limit of a sort key whatever is escaped in it.
        assert len(key.replace("%", "%25").replace("#", "%23").encode()) < 900


def test_keys_sort_without_case_and_shorter_names_first() -> None:
    names = [FileName(name) for name in ("b", "Notes 2", "notes.txt", "Notes", "A", "README", "readme")]
    assert [name.casefold() for name in sorted(names, key=name_key)] == [
        *("a", "b", "notes", "notes 2", "notes.txt", "readme", "readme")
    ]
