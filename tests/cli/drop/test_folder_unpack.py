"""A folder arrives as one content and becomes files, whatever its headers say and wherever it is cut."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.receiver.folder_unpack import MAX_HEADER_BYTES, BadFolder, Places, Unpacking, unpacked
from satchel.cli.drop.receiver.target_folder import TargetFolder
from satchel.kernel.names import FileName
from tests.cli.drop.test_target_folder import names
from tests.cli.test_put_get import contents

Entry = tuple[str, bytes | None]


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[TargetFolder]:
    ground = TargetFolder.at(tmp_path / "into" / "folder")
    yield ground
    ground.close()


def frame(**header: Any) -> bytes:
    encoded = msgspec.json.encode(header)
    return len(encoded).to_bytes(4) + encoded


def packed(*entries: Entry) -> bytes:
    """None as content makes a folder."""
    return b"".join(
        frame(path=path, size=len(content or b""), modified=None, kind="folder" if content is None else "file")
        + (content or b"")
        for path, content in entries
    )


def unpack(ground: TargetFolder, pieces: Sequence[bytes], *, caseless: bool = False) -> Unpacking:
    unpacking = Unpacking(ground, caseless=caseless)
    try:
        for piece in pieces:
            unpacking.write(memoryview(piece))
        unpacking.finish()
    finally:
        unpacking.close()
    return unpacking


BAND: tuple[Entry, ...] = (
    ("violin.pdf", b"violin" * 100),
    ("old/viola.pdf", b"viola" * 50),
    ("old/empty.txt", b""),
    ("old/deeper/.hidden", b"x"),
    ("nothing", None),
    ("last", b"end"),
)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 257, 100_000])
def test_a_folder_comes_out_the_same_wherever_the_chunks_cut_it(ground: TargetFolder, size: int) -> None:
    content = packed(*BAND)
    done = unpack(ground, [content[at : at + size] for at in range(0, len(content), size)])
    assert contents(ground.path) == {path: content for path, content in BAND if content is not None}
    assert (ground.path / "nothing").is_dir()
    assert done.written.files == 5
    assert b"".join(unpacked(ground, bytes(done.headers), caseless=False)) == content


def test_times_of_change_are_kept(ground: TargetFolder) -> None:
    unpack(ground, [frame(path="a", size=1, modified="2001-02-03T04:05:06+00:00", kind="file") + b"a"])
    assert (ground.path / "a").stat().st_mtime == 981173106


def test_paths_that_lead_out_of_the_folder_end_inside(ground: TargetFolder) -> None:
    unpack(
        ground,
        [
            packed(
                ("../../.ssh/authorized_keys", b"1"),
                ("/etc/passwd", b"2"),
                ("C:\\Users\\ann", b"3"),
                ("a/../../b", b"4"),
                ("..", b"5"),
                ("", b"6"),
                ("nul/\u202ecod.exe", b"7"),
                ("\x1b]0;owned\x07", b"8"),
                ("/", None),
                ("../..", None),
            )
        ],
    )
    assert contents(ground.path) == {
        ".ssh/authorized_keys": b"1",
        "etc/passwd": b"2",
        "C:\\Users\\ann": b"3",
        "a/b": b"4",
        "file": b"5",
        "file (1)": b"6",
        "nul/\u202ecod.exe": b"7",
        "\x1b]0;owned\x07": b"8",
    }
    assert names(ground.path.parent) == ["folder"]


def test_two_of_one_name_are_both_kept_and_a_file_is_no_folder(ground: TargetFolder) -> None:
    done = unpack(ground, [packed(("a", b"1"), ("a", b"2"), ("a/b", b"3"), ("..", b"4"), ("A", b"5"))])
    assert contents(ground.path) == {"a": b"1", "a (1)": b"2", "a (2)/b": b"3", "file": b"4", "A": b"5"}
    assert done.renamed == [("a", "a (1)"), ("a", "a (2)"), ("..", "file")]


def test_thousands_of_equal_names_take_one_try_each(ground: TargetFolder) -> None:
    tries = 0

    class Counted(Places):
        def __init__(self) -> None:
            super().__init__(caseless=False)
            self._key = self._counted

        def _counted(self, name: FileName) -> str:
            nonlocal tries
            tries += 1
            return name

    places = Counted()
    chosen = [places.file("same.txt")[1] for _ in range(5000)]
    assert len(set(chosen)) == 5000
    assert tries <= 3 * 5000
    assert chosen[-1] == "same (4999).txt"


def test_on_a_disk_without_upper_and_lower_case_both_are_kept_as_well(ground: TargetFolder) -> None:
    unpack(ground, [packed(("a", b"1"), ("A", b"2"), ("Ä", b"3"), ("ä/b", b"4"))], caseless=True)
    assert contents(ground.path) == {"a": b"1", "A (1)": b"2", "Ä": b"3", "ä (1)/b": b"4"}


@pytest.mark.parametrize(
    "content",
    [
        b"\0",
        (MAX_HEADER_BYTES + 1).to_bytes(4),
        b"\xff\xff\xff\xff",
        (2).to_bytes(4) + b"{}",
        (4).to_bytes(4) + b"nope",
        (2).to_bytes(4) + b"\xff\xfe",
        frame(path="a", size=-1, kind="file"),
        frame(path="a", size=2**64, kind="file"),
        frame(path="a", size=1, kind="link"),
        frame(path="a", size=5, kind="file") + b"four",
        frame(path="a/" * 200, size=0, kind="folder"),
    ],
)
def test_what_is_no_folder_is_refused(ground: TargetFolder, content: bytes) -> None:
    with pytest.raises(BadFolder):
        unpack(ground, [content])


@given(cut=st.integers(0, len(packed(*BAND))), size=st.integers(1, 50))
def test_a_folder_that_is_half_here_is_gone_on_with_from_any_byte(
    tmp_path_factory: pytest.TempPathFactory, cut: int, size: int
) -> None:
    """Also if more had been written by the time of the break than was kept in mind."""
    ground = TargetFolder.at(tmp_path_factory.mktemp("half"))
    content = packed(*BAND)
    before = Unpacking(ground, caseless=False)
    before.write(memoryview(content[:cut]))
    headers = bytes(before.headers)
    before.write(memoryview(content[cut : cut + size]))
    before.close()

    assert content.startswith(b"".join(unpacked(ground, headers, caseless=False))[:cut])
    after = Unpacking(ground, caseless=False)
    after.go_on(headers, cut)
    after.write(memoryview(content[cut:]))
    after.finish()
    after.close()
    assert contents(ground.path) == {path: content for path, content in BAND if content is not None}
    ground.close()
