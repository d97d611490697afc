"""Finding files and folders by words of their names."""

from typing import Any

import msgspec
import pytest

from satchel.features.shelf.model import FileId, FolderId, UserId
from satchel.features.shelf.records import FILE, FileRow
from satchel.features.shelf.service.placement import entering
from satchel.kernel.names import FileName
from satchel.stores.ports.table import Put
from tests.application import Caller, Satchel
from tests.features.shelf.given import made, uploaded


async def found(caller: Caller, q: str, **more: Any) -> list[str]:
    answer = await caller("GET", "/shelf/search", params={"q": q, **more})
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["entries"]]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("resume", ["Résumé Ångström.pdf"]),
        ("ANGSTROM rés", ["Résumé Ångström.pdf"]),
        ("strasse", ["Straße.txt"]),
        ("STRASSE", ["Straße.txt"]),
        ("がくふ", ["がくふ.pdf"]),
        ("pdf", ["がくふ.pdf", "Résumé Ångström.pdf"]),
        ("pdf nothing", []),
        ("100%", ["100% #1.txt"]),
        ("#", ["100% #1.txt"]),
    ],
)
async def test_every_word_has_to_be_somewhere_in_the_name(
    satchel: Satchel, ann: Caller, q: str, expected: list[str]
) -> None:
    for name in ("Résumé Ångström.pdf", "Straße.txt", "がくふ.pdf", "100% #1.txt"):
        await uploaded(satchel, ann, name, b"x")
    assert sorted(await found(ann, q)) == sorted(expected)


async def test_files_and_folders_are_found_with_the_way_to_them(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    outer = await made(ann, "Bach")
    inner = await made(ann, "Bach cantatas", outer)
    await uploaded(satchel, ann, "bach.txt", b"x", folder_id=inner)
    await uploaded(satchel, bob, "bach.txt", b"x")
    entries = (await ann("GET", "/shelf/search", params={"q": "bach"})).json()["entries"]
    assert {(entry["kind"], entry["name"], *entry["path"]) for entry in entries} == {
        ("folder", "Bach"),
        ("folder", "Bach cantatas", "Bach"),
        ("file", "bach.txt", "Bach", "Bach cantatas"),
    }


async def test_what_is_found_comes_page_by_page_each_thing_once(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "folder")
    for number in range(7):
        await uploaded(satchel, ann, f"{number} wanted", b"x", folder_id=folder_id if number % 2 else "root")
        await uploaded(satchel, ann, f"{number} other", b"x")
    seen: list[str] = []
    cursor = None
    while True:
        params = {"q": "wanted", "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await ann("GET", "/shelf/search", params=params)).json()
        assert len(page["entries"]) <= 2
        seen += [entry["name"] for entry in page["entries"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert sorted(seen) == [f"{number} wanted" for number in range(7)]


@pytest.mark.slow
async def test_one_request_looks_at_a_bounded_number_of_names(satchel: Satchel, ann: Caller) -> None:
    file = FileRow(
        user_id=UserId(ann.user_id),
        file_id=FileId("x"),
        folder_id=FolderId("root"),
        name=FileName("x"),
        size_bytes=0,
        content_type="text/plain",
        sha256="",
        object_id="",
        created_at="",
    )
    rows: list[Any] = []
    for number in range(6000):
        named = msgspec.structs.replace(file, file_id=FileId(f"{number:05}"), name=FileName(f"{number:05}.txt"))
        rows += [FILE.item(named), *(write.item for write in entering(named) if isinstance(write, Put))]
    await satchel.stores.tables.write_many(FILE.table, put=rows)
    first = (await ann("GET", "/shelf/search", params={"q": "05999"})).json()
    assert first["entries"] == []
    second = (await ann("GET", "/shelf/search", params={"q": "05999", "cursor": first["cursor"]})).json()
    assert ([entry["name"] for entry in second["entries"]], second["cursor"]) == (["05999.txt"], None)


@pytest.mark.parametrize("params", [{"q": ""}, {"q": " "}, {"q": "\u0301"}, {"q": "a " * 50}, {}, {"q": "a" * 201}])
async def test_a_search_needs_words(ann: Caller, params: dict[str, str]) -> None:
    assert (await ann("GET", "/shelf/search", params=params)).status_code == 422


@pytest.mark.parametrize("cursor", ["x", "QmxvYiM=", "TmFtZSM=" * 300, "é", "////"])
async def test_a_made_up_cursor_is_refused(ann: Caller, cursor: str) -> None:
    assert (await ann("GET", "/shelf/search", params={"q": "a", "cursor": cursor})).status_code == 422
