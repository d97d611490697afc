"""Contents that are handed over: the same bytes from wherever one begins to read, never a mixture of two versions."""

import os
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import integers

from satchel.cli.drop.crypto.session_keys import CHUNK
from satchel.cli.drop.receiver.folder_unpack import Unpacking
from satchel.cli.drop.receiver.target_folder import TargetFolder
from satchel.cli.drop.sender.folder_source import FolderSource, Missing, folder_at
from satchel.cli.drop.sender.pipe_spool import PipeSource
from satchel.cli.drop.sender.send_content import Changed, Content, FileSource


def read(content: Content, offset: int = 0, room_bytes: int = CHUNK) -> bytes:
    content.seek(offset)
    room = memoryview(bytearray(room_bytes))
    whole = bytearray()
    while size := content.read_into(room):
        whole += room[:size]
    content.close()
    return bytes(whole)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> FolderSource:
    top = tmp_path_factory.mktemp("trip")
    for path, size in (("b", 1000), ("empty", 0), ("a/long", 70_000), ("a/b/c/deep", 3), ("z", 10)):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(os.urandom(size))
    (top / "nothing").mkdir()
    return folder_at(str(top), Missing())


@pytest.mark.slow
@given(offset=integers(0, 72_000), room_bytes=integers(1, 100_000))
def test_a_folder_reads_the_same_from_any_place_and_into_any_room(
    folder: FolderSource, offset: int, room_bytes: int
) -> None:
    whole = read(folder.begin())
    assert len(whole) == folder.begin().length
    assert read(folder.begin(), offset, room_bytes) == whole[offset:]


def test_a_folder_is_another_once_anything_in_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    source = folder_at(str(tmp_path), Missing())
    content = source.begin()
    (tmp_path / "a").write_text("longer")
    with pytest.raises(Changed):
        read(content)
    with pytest.raises(Changed):
        source.begin()
    now = source.as_it_is_now()
    assert read(now.begin()).endswith(b"longer")
    (tmp_path / "b").touch()
    with pytest.raises(Changed):
        now.begin()


def test_a_file_that_changes_under_the_reader_never_becomes_whole(tmp_path: Path) -> None:
    path = tmp_path / "draft"
    path.write_bytes(bytes(3 * CHUNK))
    content = FileSource.of(str(path), path.stat()).begin()
    room = memoryview(bytearray(CHUNK))
    assert content.read_into(room) == CHUNK
    with path.open("r+b") as file:
        file.write(b"another beginning")
    with pytest.raises(Changed):
        read(content, CHUNK)


def test_what_is_left_out_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    missing = Missing()
    assert folder_at(str(tmp_path), missing).inside == ()
    told = [(Path(path).name, why) for path, why in missing.left_out]
    assert told == [("link", "a symbolic link"), ("pipe", "neither a file nor a folder")]


def test_a_folder_that_was_swapped_for_a_link_leads_nowhere_else(tmp_path: Path) -> None:
    """Neither what was listed before, nor a file of the same size and time, nor the folder that was named."""
    for place in ("mine/inner", "secret"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "key").write_bytes(b"0123456789")
        os.utime(tmp_path / place / "key", ns=(10**18, 10**18))
    source = folder_at(str(tmp_path / "mine"), Missing())
    file = FileSource.of(str(tmp_path / "mine/inner/key"), (tmp_path / "mine/inner/key").stat())
    content = source.begin()
    (tmp_path / "mine/inner").rename(tmp_path / "mine/was")
    (tmp_path / "mine/inner").symlink_to(tmp_path / "secret")
    with pytest.raises(Changed):
        read(content)
    with pytest.raises(Changed):
        file.begin()
    with pytest.raises(OSError, match=r"irectory|links"):
        file.as_it_is_now()
    assert [Path(each.path).name for each in source.as_it_is_now().inside] == ["was", "key"]
    (tmp_path / "mine").rename(tmp_path / "other")
    (tmp_path / "mine").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match=r"irectory|links"):
        source.as_it_is_now()


def test_times_and_modes_go_with_a_folder_and_links_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "from/inner").mkdir(parents=True)
    (tmp_path / "from/inner/run").write_bytes(b"#!/bin/sh")
    (tmp_path / "from/inner/run").chmod(0o755)
    (tmp_path / "from/inner/text").write_bytes(b"text")
    (tmp_path / "from/inner/link").symlink_to("text")
    for name in ("inner/run", "inner/text", "inner"):
        os.utime(tmp_path / "from" / name, ns=(10**18, 981173106_123456789))
    missing = Missing()
    content = read(folder_at(str(tmp_path / "from"), missing).begin())
    assert [why for _, why in missing.left_out] == ["a symbolic link"]
    with closing(TargetFolder.at(tmp_path / "to")) as target:
        unpacking = Unpacking(target, caseless=False)
        unpacking.write(memoryview(content))
        unpacking.finish()
        unpacking.close()
    for name in ("inner/run", "inner/text", "inner"):
        assert (tmp_path / "to" / name).stat().st_mtime_ns == 981173106_123456789
    assert os.access(tmp_path / "to/inner/run", os.X_OK)
    assert not (tmp_path / "to/inner/text").stat().st_mode & 0o111


def test_a_pipe_is_read_in_whole_chunks_until_its_end() -> None:
    out, into = os.pipe()
    with os.fdopen(out, "rb") as pipe:
        source = PipeSource(pipe, "stdin")
        content = source.begin()
        room = memoryview(bytearray(4 * CHUNK))
        sent = os.urandom(CHUNK + 10)
        with os.fdopen(into, "wb") as writing:
            writing.write(sent)
            writing.flush()
            assert content.read_into(room) == CHUNK
            assert (content.length, source.description.size) == (None, None)
        assert content.read_into(room) == 10
        assert content.read_into(room) == 0
        assert content.length == source.description.size == len(sent)
        assert read(source.begin()) == sent
