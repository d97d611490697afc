"""What is half here is gone on with after any break, and never trusted blindly."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.crypto.session_keys import Description, b64
from satchel.cli.drop.receiver.partial_content import Part
from satchel.cli.drop.receiver.target_folder import TargetFolder
from tests.cli.drop.test_folder_unpack import packed
from tests.cli.drop.test_target_folder import names
from tests.cli.test_put_get import contents

pytestmark = pytest.mark.slow

CHUNK = 4096
KEY, OTHER_KEY = bytes(32), b"k" * 32
# Enough for a few moments that a journal keeps.
CHUNKS = 40 * 1024**2 // CHUNK
CONTENT = os.urandom(CHUNK) * CHUNKS + b"end"
ENTRIES = tuple((f"folder {n % 7}/file {n}", os.urandom(3000) * (1 + n % 40)) for n in range(800))


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[TargetFolder]:
    with closing(TargetFolder.at(tmp_path)) as ground:
        yield ground


def description(name: str, content: bytes, kind: str = "file") -> Description:
    is_folder = kind == "folder"
    size = None if is_folder else len(content)
    return Description("folder" if is_folder else "file", name, size, 1, "2001-02-03T04:05:06+00:00", "")


def write(part: Part, content: bytes, first: int, last: int | None = None) -> None:
    """The chunks from `first` on, before `last`."""
    part.begin(CHUNK, first)
    end = len(content) if last is None else last * CHUNK
    for at in range(first * CHUNK, end, CHUNK):
        chunk = memoryview(content)[at : min(at + CHUNK, end)]
        part.digest.add(chunk)
        part.write(chunk)


def break_off(ground: TargetFolder, about: Description, content: bytes, chunks: int) -> None:
    """As after a kill: nothing is said to the journal at the end."""
    with closing(Part(ground, about, Digest(KEY))) as part:
        write(part, content, 0, chunks)


def go_on(ground: TargetFolder, about: Description, content: bytes) -> tuple[int, Path]:
    """How many chunks were here, and where it stands."""
    with closing(Part(ground, about, Digest(KEY))) as part:
        have = part.have()
        write(part, content, have.chunks if have else 0)
        return (have.chunks if have else 0), part.finish()


def test_a_file_that_was_broken_off_is_gone_on_with_by_name_and_size(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS - 10)
    assert names(ground.path) == ["film.mov.satchel-part", "film.mov.satchel-part.journal"]
    had, path = go_on(ground, about, CONTENT)
    assert had * CHUNK >= 32 * 1024**2
    assert path.read_bytes() == CONTENT
    assert path.stat().st_mtime == 981173106
    assert names(ground.path) == ["film.mov"]


def test_in_another_session_the_digest_of_a_part_has_another_key(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS - 10)
    for key in (OTHER_KEY, b"x" * 32):
        with closing(Part(ground, about, Digest(key))) as part:
            have = part.have()
        assert have
        expected = Digest(key)
        for at in range(0, have.chunks * CHUNK, CHUNK):
            expected.add(CONTENT[at : at + CHUNK])
        assert have.digest == b64(expected.value)


def test_a_folder_that_was_broken_off_is_gone_on_with(ground: TargetFolder) -> None:
    content = packed(*ENTRIES)
    about = description("band", content, "folder")
    break_off(ground, about, content, len(content) // CHUNK - 3)
    had, path = go_on(ground, about, content)
    assert had * CHUNK >= 32 * 1024**2
    assert contents(path) == dict(ENTRIES)
    assert names(ground.path) == ["band"]


def test_an_empty_file_and_an_empty_folder_are_something(ground: TargetFolder) -> None:
    assert go_on(ground, description("empty", b""), b"")[1].read_bytes() == b""
    assert names(go_on(ground, description("void", b"", "folder"), b"")[1]) == []


def test_who_cannot_go_on_begins_anew_in_the_same_place(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    with closing(Part(ground, about, Digest(KEY))) as part:
        assert part.have()
        write(part, CONTENT[:10_000], 0)
        assert part.finish().read_bytes() == CONTENT[:10_000]


def test_what_was_changed_meanwhile_is_believed_only_up_to_the_last_moment_before(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    with (ground.path / "film.mov.satchel-part").open("r+b") as file:
        file.seek(20 * 1024**2)
        file.write(b"changed")
    had, path = go_on(ground, about, CONTENT)
    assert 16 * 1024**2 <= had * CHUNK <= 20 * 1024**2
    assert path.read_bytes() == CONTENT


def test_a_part_that_lost_its_end_is_gone_on_with_from_what_is_left(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    os.truncate(ground.path / "film.mov.satchel-part", 17 * 1024**2)
    had, path = go_on(ground, about, CONTENT)
    assert had * CHUNK <= 17 * 1024**2
    assert path.read_bytes() == CONTENT


def test_a_file_that_is_missing_inside_a_folder_is_noticed(ground: TargetFolder) -> None:
    content = packed(*ENTRIES)
    about = description("band", content, "folder")
    break_off(ground, about, content, len(content) // CHUNK)
    (ground.path / "band.satchel-part" / ENTRIES[5][0]).unlink()
    had, path = go_on(ground, about, content)
    assert had == 0
    assert contents(path) == dict(ENTRIES)


@pytest.mark.parametrize("spoilt", [b"", b"nonsense", b"\xff" * 100, b'{"name": "film.mov"}\n', b"{}\n{}\n"])
def test_a_journal_that_cannot_be_read_means_to_begin_anew(ground: TargetFolder, spoilt: bytes) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    (ground.path / "film.mov.satchel-part.journal").write_bytes(spoilt)
    assert go_on(ground, about, CONTENT) == (0, ground.path / "film.mov")
    assert names(ground.path) == ["film.mov"]


def test_a_last_line_that_was_cut_costs_only_that_moment(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    journal = ground.path / "film.mov.satchel-part.journal"
    journal.write_bytes(journal.read_bytes()[:-9])
    had, path = go_on(ground, about, CONTENT)
    assert had * CHUNK >= 16 * 1024**2
    assert path.read_bytes() == CONTENT


def test_another_thing_of_the_same_name_leaves_the_part_alone(ground: TargetFolder) -> None:
    break_off(ground, description("film.mov", CONTENT), CONTENT, CHUNKS)
    assert go_on(ground, description("film.mov", CONTENT[:-1]), CONTENT[:-1])[0] == 0
    had, path = go_on(ground, description("film.mov", CONTENT), CONTENT)
    assert had
    assert path.name == "film (1).mov"
    assert path.read_bytes() == CONTENT


def test_two_programs_that_take_the_same_at_once_do_not_meet(ground: TargetFolder) -> None:
    about = description("film.mov", CONTENT)
    with closing(Part(ground, about, Digest(KEY))) as one, closing(Part(ground, about, Digest(KEY))) as other:
        write(one, CONTENT, 0)
        write(other, CONTENT, 0)
        assert {one.finish().name, other.finish().name} == {"film.mov", "film (1).mov"}
    assert names(ground.path) == ["film (1).mov", "film.mov"]


def test_a_part_that_somebody_else_put_there_is_not_touched(
    ground: TargetFolder, tmp_path_factory: pytest.TempPathFactory
) -> None:
    target = tmp_path_factory.mktemp("elsewhere") / "target"
    target.write_bytes(b"mine")
    (ground.path / "film.mov.satchel-part").symlink_to(target)
    (ground.path / "film (1).mov.satchel-part.journal").symlink_to(target)
    assert go_on(ground, description("film.mov", CONTENT), CONTENT)[1].read_bytes() == CONTENT
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize(
    "name", ["../../.ssh/authorized_keys", "/etc/cron.d/x", "C:\\autoexec.bat", "..", "a\0b", "x" * 300]
)
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_whatever_it_is_called_it_ends_in_the_folder(tmp_path: Path, name: str, kind: str) -> None:
    with closing(TargetFolder.at(tmp_path / "into")) as ground:
        content = packed(("a", b"a")) if kind == "folder" else b"a"
        about = description(name, content, kind)
        break_off(ground, about, content, 0)
        assert go_on(ground, about, content)[1].parent == ground.path
    assert names(tmp_path) == ["into"]
    assert len(names(tmp_path / "into")) == 1


def test_a_name_of_the_greatest_length_has_parts_too(ground: TargetFolder) -> None:
    name = "雪" * 85
    about = description(name, CONTENT)
    break_off(ground, about, CONTENT, CHUNKS)
    had, path = go_on(ground, about, CONTENT)
    assert had
    assert path.name == name


def test_a_short_chunk_that_was_not_the_last_after_all_is_nothing_to_go_on_from(ground: TargetFolder) -> None:
    with closing(Part(ground, description("film.mov", CONTENT), Digest(KEY))) as part:
        write(part, CONTENT[: CHUNK + 5], 0)
        assert part.have() is None
