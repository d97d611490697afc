"""Contents that are handed over: the same bytes from wherever one begins to read, never a mixture of two versions."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import integers

from satchel.cli.drop.crypto.session_keys import CHUNK
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
    facts = path.stat()
    content = FileSource(str(path), facts.st_size, facts.st_mtime_ns).begin()
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
