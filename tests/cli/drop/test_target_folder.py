"""What strangers name stays inside the folder that the person chose, and takes nothing's place."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.drop.receiver.target_folder import (
    NotSafe,
    TargetFolder,
    keep_mode,
    keep_time,
    name_inside,
    top_name,
    write_sparsely,
)
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.kernel.names import NAMELESS, FileName, clean_name

HOSTILE = {
    "../../.ssh/authorized_keys": "authorized_keys",
    "/etc/passwd": "passwd",
    "C:\\Windows\\win.ini": "C:\\Windows\\win.ini",
    "..": NAMELESS,
    ".": NAMELESS,
    "": NAMELESS,
    "a\0b": "ab",
    ".bashrc": "bashrc",
}


@pytest.fixture
def target(tmp_path: Path) -> Iterator[TargetFolder]:
    target = TargetFolder.at(tmp_path / "into")
    yield target
    target.close()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def write(target: TargetFolder, name: str, content: bytes) -> None:
    file = target.new_file(name)
    os.write(file, content)
    os.close(file)


NARROW = {
    "CON": "_CON",
    "nul.txt": "_nul.txt",
    "trailing. . .": "trailing",
    "e\u0301": "é",
    "invoice\u202etxt.exe": "invoicetxt.exe",
    "\x1b[31mred\x1b[0m": "[31mred[0m",
}


@pytest.mark.parametrize(("written", "expected"), HOSTILE.items())
def test_a_hostile_name_becomes_a_harmless_one(written: str, expected: str) -> None:
    assert top_name(written) == expected


@pytest.mark.parametrize(("written", "expected"), NARROW.items())
def test_a_name_stays_as_it_is_unless_the_disk_refuses_such_names(written: str, expected: str) -> None:
    assert top_name(written) == name_inside(written) == written
    assert top_name(written, narrow=True) == name_inside(written, narrow=True) == expected


def test_a_disk_that_stores_every_name_is_not_narrow_and_keeps_no_trace_of_the_question(target: TargetFolder) -> None:
    assert not target.is_narrow
    assert names(target.path) == []


def test_a_name_that_is_too_long_is_cut_and_keeps_its_extension() -> None:
    assert len(top_name("雪" * 300 + ".tar.gz").encode()) <= 255
    assert top_name("x" * 300 + ".tar.gz").endswith("x.tar.gz")
    assert len(name_inside("." + "x" * 300).encode()) <= 255


def test_inside_a_folder_a_name_may_begin_with_a_dot() -> None:
    assert name_inside(".gitignore") == ".gitignore"
    assert name_inside("..gitignore") == "..gitignore"
    assert name_inside("..gitignore", narrow=True) == ".gitignore"
    assert name_inside("..") == NAMELESS


@given(st.text(alphabet=st.sampled_from("ab.CONnulxp -_1é/\\\u202e\x1b")))
def test_a_plain_name_is_seen_to_be_plain_only_if_cleaning_would_not_change_it(written: str) -> None:
    hidden = "." if written.startswith(".") else ""
    narrow = name_inside(written, narrow=True)
    assert narrow in (clean_name(written), hidden + (clean_name(written) or ""), NAMELESS)
    for name in (narrow, name_inside(written)):
        assert "/" not in name
        assert name not in ("", ".", "..")


def test_nothing_that_is_there_is_overwritten(target: TargetFolder) -> None:
    (target.path / "notes.txt").write_bytes(b"mine")
    (target.path / "notes (1).txt").symlink_to("nowhere")
    write(target, "part", b"theirs")
    assert target.settle("part", FileName("notes.txt"), is_folder=False) == "notes (2).txt"
    assert (target.path / "notes.txt").read_bytes() == b"mine"
    assert (target.path / "notes (2).txt").read_bytes() == b"theirs"
    assert names(target.path) == ["notes (1).txt", "notes (2).txt", "notes.txt"]


def test_a_folder_takes_the_place_of_no_folder_not_even_of_an_empty_one(target: TargetFolder) -> None:
    (target.path / "band").mkdir()
    (target.path / "part").mkdir()
    (target.path / "part/violin").touch()
    assert target.settle("part", FileName("band"), is_folder=True) == "band (1)"
    assert names(target.path / "band") == []
    assert names(target.path / "band (1)") == ["violin"]


def test_only_what_could_be_run_there_can_be_run_here(target: TargetFolder) -> None:
    for name, executable in (("tool.sh", True), ("notes.txt", False)):
        file = target.new_file(name)
        keep_mode(file, executable=executable)
        os.close(file)
        assert bool(stat.S_IMODE((target.path / name).stat().st_mode) & stat.S_IXUSR) == executable


def test_zeros_become_holes_and_the_file_is_the_same(target: TargetFolder) -> None:
    file = target.new_file("disk.img")
    for piece in (b"begin", bytes(4 * 1024**2), b"middle", bytes(1024**2)):
        assert write_sparsely(file, memoryview(piece)) == len(piece)
    os.close(file)
    path = target.path / "disk.img"
    assert path.read_bytes() == b"begin" + bytes(4 * 1024**2) + b"middle" + bytes(1024**2)
    assert path.stat().st_blocks * 512 < 1024**2


def test_links_are_not_followed_whatever_they_lead_to(target: TargetFolder, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_bytes(b"key")
    (target.path / "folder").symlink_to(tmp_path / "secret")
    (target.path / "file").symlink_to(tmp_path / "secret/key")
    os.link(tmp_path / "secret/key", target.path / "same")
    with pytest.raises(NotSafe, match="folder"):
        target.folder("folder")
    with pytest.raises(NotSafe):
        target.folder("folder", "deeper")
    with pytest.raises(NotSafe):
        target.known_file("file")
    with pytest.raises(NotSafe):
        target.known_file("same")
    with pytest.raises(FileExistsError):
        target.new_file("file")
    assert names(tmp_path / "secret") == ["key"]


def test_a_folder_that_is_renamed_meanwhile_still_gets_what_was_meant_for_it(
    target: TargetFolder, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    target.path.rename(tmp_path / "renamed")
    target.path.symlink_to(tmp_path / "elsewhere")
    write(target, "notes.txt", b"notes")
    assert names(tmp_path / "elsewhere") == []
    assert names(tmp_path / "renamed") == ["notes.txt"]


def test_a_file_keeps_its_time_and_nonsense_is_no_time(target: TargetFolder) -> None:
    file = target.new_file("notes.txt")
    keep_time(file, "2001-02-03T04:05:06.123456789Z")
    assert os.fstat(file).st_mtime_ns == 981173106_123456789
    keep_time(file, "2001-02-03T04:05:06+00:00")
    for nonsense in (None, "", "yesterday", "9999-12-31T23:59:59+00:00" * 2, "0001-01-01T00:00:00"):
        keep_time(file, nonsense)
    assert os.fstat(file).st_mtime == 981173106
    os.close(file)


def test_what_does_not_fit_on_the_disk_is_refused_before_it_is_begun(target: TargetFolder) -> None:
    target.refuse_if_full(1)
    with pytest.raises(CommandFailed, match=r"Not enough space.*1000 PB.*--into"):
        target.refuse_if_full(10**18)


def test_a_folder_that_cannot_be_used_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandFailed, match="cannot be used"):
        TargetFolder.at(tmp_path / "file")
