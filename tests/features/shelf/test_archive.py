"""Several things as one zip file, made on the way out, that every program can read."""

import io
import subprocess
import zipfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect

from satchel.edge.files.archives import Archive
from satchel.edge.files.zip_format import ZipWriter
from satchel.features.shelf.model import UserId
from satchel.features.shelf.routes.shelf_contents import archived
from satchel.features.shelf.service.shelf_archive import select
from satchel.kernel.names import MAX_NAME_BYTES, clean_path
from tests.application import Caller, Satchel
from tests.features.shelf.given import made, shelf_of, uploaded
from tests.services import tool
from tests.uploads.given import SENDS, TUS, pairs

GIB = 1024**3
OPEN_FILES = Path("/proc/self/fd")


def opened(content: bytes) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert archive.testzip() is None
    return archive


async def test_a_selection_comes_as_one_archive_with_its_folders(satchel: Satchel, ann: Caller, tmp_path: Path) -> None:
    folder_id = await made(ann, "学校")
    inner = await made(ann, "inner", folder_id)
    await made(ann, "empty", folder_id)
    await uploaded(satchel, ann, "a 🎉.txt", b"first", folder_id=inner)
    other = await uploaded(satchel, ann, "same.txt", b"second", folder_id=folder_id)
    loose = await uploaded(satchel, ann, "same.txt", b"third" * 100_000)
    params = {"file": [loose.file_id, other.file_id, loose.file_id], "folder": [folder_id]}
    answer = await ann("GET", "/shelf/archive", params=params)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert answer.headers["content-disposition"].startswith('attachment; filename="Satchel.zip"')
    archive = opened(answer.content)
    assert archive.namelist() == [
        "学校/",
        "学校/empty/",
        "学校/inner/",
        "学校/same.txt",
        "学校/inner/a 🎉.txt",
        "same.txt",
        "same (1).txt",
    ]
    assert archive.read("学校/inner/a 🎉.txt") == b"first"
    assert archive.read("same.txt") == b"third" * 100_000
    assert archive.getinfo("same.txt").date_time == (2030, 3, 17, 17, 46, 40)
    file = tmp_path / "a.zip"
    file.write_bytes(answer.content)
    subprocess.run([tool("unzip"), "-tqq", file], check=True)


async def test_an_archive_is_named_after_what_is_in_it(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "music")
    files = [await uploaded(satchel, ann, name, b"x", folder_id=folder_id) for name in ("a.txt", "b.txt")]

    async def name_of(**params: object) -> str:
        answer = await ann("GET", "/shelf/archive", params=params)
        opened(answer.content)
        return answer.headers["content-disposition"].partition("''")[2]

    assert await name_of(folder=folder_id) == "music.zip"
    assert await name_of(file=files[0].file_id) == "a.txt.zip"
    assert await name_of(file=[file.file_id for file in files]) == "music.zip"


async def test_one_thing_that_is_missing_makes_no_archive(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"x")
    assert (await ann("GET", "/shelf/archive", params={"file": [file.file_id, "nothing"]})).status_code == 404
    assert (await ann("GET", "/shelf/archive", params={"folder": "root"})).status_code == 404
    assert (await ann("GET", "/shelf/archive")).status_code == 422


async def test_bytes_that_were_lost_are_left_out(satchel: Satchel, ann: Caller) -> None:
    await uploaded(satchel, ann, "lost.txt", b"x")
    await satchel.stores.objects.delete(*[info.key for info in (await satchel.stores.objects.list("user/")).objects])
    ids = [entry["id"] for entry in (await ann("GET", "/shelf/entries")).json()["entries"]]
    kept = await uploaded(satchel, ann, "kept.txt", b"y")
    answer = await ann("GET", "/shelf/archive", params={"file": [*ids, kept.file_id]})
    assert opened(answer.content).namelist() == ["kept.txt"]


async def test_an_archive_that_nobody_waits_for_is_given_up_and_never_held_whole(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "large.bin", bytes(8 * 1024 * 1024))
    shelf = shelf_of(satchel)
    selection = await select(shelf, UserId(ann.user_id), [file.file_id], [])
    sizes: list[int] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sizes.append(len(message.get("body", b"")))
        if len(sizes) == 4:
            raise ClientDisconnect

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    before = len(list(OPEN_FILES.iterdir()))
    with pytest.raises(ClientDisconnect):
        answer = Archive(shelf.objects, selection.name, archived(shelf, selection))
        await answer({"method": "GET", "type": "http"}, receive, send)
    assert len(sizes) == 4
    assert max(sizes) <= 1024 * 1024
    assert len(list(OPEN_FILES.iterdir())) == before


names = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5).map("/".join)


@given(st.lists(st.tuples(names, st.binary(max_size=200)), max_size=5))
def test_any_name_comes_out_as_it_went_in_and_leads_nowhere_else(entries: list[tuple[str, bytes]]) -> None:
    cleaned = {"/".join(clean_path(name)): content for name, content in entries if clean_path(name)}
    archive = opened(zipped(list(cleaned.items())))
    assert {name: archive.read(name) for name in archive.namelist()} == cleaned
    for name in cleaned:
        assert not name.startswith("/")
        assert all(part not in ("", ".", "..") and len(part.encode()) <= MAX_NAME_BYTES for part in name.split("/"))


def zipped(entries: list[tuple[str, bytes]]) -> bytes:
    writer, pieces = ZipWriter(), list[bytes]()
    for name, content in entries:
        pieces += [writer.begin(name, 1_900_000_000, size_bytes=len(content)), writer.count(content), writer.end()]
    return b"".join([*pieces, *writer.finish()])


@pytest.mark.slow
def test_more_entries_than_16_bits_can_count_make_a_zip64(tmp_path: Path) -> None:
    content = zipped([(f"{number}.txt", b"x") for number in range(65_536)])
    assert len(opened(content).namelist()) == 65_536
    file = tmp_path / "many.zip"
    file.write_bytes(content)
    subprocess.run([tool("unzip"), "-tqq", file], check=True)


@pytest.mark.slow
def test_more_bytes_than_32_bits_can_count_make_a_zip64(tmp_path: Path) -> None:
    """The large entry is a hole on disk and zeros on the way."""
    file = tmp_path / "large.zip"
    writer, zeros = ZipWriter(), bytes(16 * 1024 * 1024)
    with file.open("wb") as output:
        output.write(writer.begin("large.bin", 0, size_bytes=4 * GIB))
        for _ in range(4 * GIB // len(zeros)):
            output.seek(len(writer.count(zeros)), io.SEEK_CUR)
        output.write(writer.end())
        output.write(writer.begin("small.txt", 5e9) + writer.count(b"after") + writer.end())
        output.write(b"".join(writer.finish()))
    archive = zipfile.ZipFile(file)
    large, small = archive.infolist()
    assert (large.file_size, large.compress_size) == (4 * GIB, 4 * GIB)
    assert small.header_offset > 4 * GIB
    assert archive.read("small.txt") == b"after"
    assert small.date_time == (2107, 12, 31, 23, 59, 58)


def test_an_entry_has_to_be_begun_before_it_ends() -> None:
    with pytest.raises(RuntimeError):
        ZipWriter().end()


async def test_an_archive_keeps_times_and_the_executable_bit(ann: Caller, tmp_path: Path) -> None:
    about = {"filename": "run.sh", "modified": "2019-06-01T10:00:01Z", "executable": "true"}
    metadata = pairs(destination="shelf", relativePath=".tools/run.sh", **about)
    headers = {**SENDS, "upload-length": "2", "upload-metadata": metadata}
    assert (await ann("POST", "/uploads", headers=headers, content=b"hi")).status_code == 201
    folder = pairs(destination="shelf", relativePath=".tools/", modified="2018-06-01T10:00:00Z")
    assert (await ann("POST", "/uploads", headers={**TUS, "upload-length": "0", "upload-metadata": folder})).is_success
    (entry,) = (await ann("GET", "/shelf/entries")).json()["entries"]
    assert (entry["name"], entry["modified_at"]) == (".tools", "2018-06-01T10:00:00Z")
    (tmp_path / "a.zip").write_bytes((await ann("GET", "/shelf/archive", params={"folder": entry["id"]})).content)
    subprocess.run([tool("unzip"), "-q", "a.zip"], cwd=tmp_path, check=True, env={"TZ": "Asia/Tokyo"})
    program = tmp_path / ".tools/run.sh"
    assert program.stat().st_mode & 0o777 == 0o755
    assert (program.stat().st_mtime, program.parent.stat().st_mtime) == (1559383201, 1527847200)


def test_a_time_that_zip_cannot_say_becomes_the_nearest() -> None:
    writer = ZipWriter()
    pieces: list[bytes] = []
    for name, moment in (("1969", -86400.0), ("2090", 3_800_000_000.0), ("2200", 7_258_118_400.0)):
        pieces += [writer.begin(name, moment), writer.end()]
    with zipfile.ZipFile(io.BytesIO(b"".join([*pieces, *writer.finish()]))) as archive:
        years = {info.filename: info.date_time[0] for info in archive.infolist()}
    assert years == {"1969": 1980, "2090": 2090, "2200": 2107}


async def test_hundreds_of_chosen_files_are_asked_for_in_one_address(ann: Caller) -> None:
    # None of them is there, but the address itself is right.
    assert (await ann("GET", "/shelf/archive", params={"file": ["0" * 26] * 200})).status_code == 404
