"""The check of names finds what it forbids, and lets pass what a slice is made of."""

from pathlib import Path

import pytest

from tools.names import NOUNS, SHAPE_OF_A_SLICE, complaints, is_gerund


def tree(root: Path, *files: str) -> Path:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    return root


@pytest.mark.parametrize("name", ["showing", "room_joining", "roomJoining", "RoomJoining", "session-opening", "Taking"])
def test_a_gerund_at_the_end_of_a_name_is_found(name: str) -> None:
    assert is_gerund(name)


@pytest.mark.parametrize("name", ["room_join", "string", "thing", "ring", "king", "meeting_room", "__init__", "QrCode"])
def test_a_noun_is_no_gerund(name: str) -> None:
    assert not is_gerund(name)


@pytest.mark.parametrize(
    "file",
    [
        "src/satchel/features/rooms/service/entering.py",
        "src/satchel/cli/linking/__init__.py",
        "web/src/lib/rooms/joining.svelte.ts",
        "web/src/lib/rooms/Taking.svelte",
        "web/src/lib/uploads/picking.test.ts",
        "web/src/lib/uploads/hashing.worker.ts",
    ],
)
def test_a_module_or_folder_named_by_a_gerund_is_reported(tmp_path: Path, file: str) -> None:
    found = list(complaints(tree(tmp_path, "src/satchel/app.py", "web/src/lib/theme.ts", file)))
    assert len(found) == 1
    assert found[0].split(":")[0] in file


@pytest.mark.parametrize(
    ("top", "ending"), [("src/satchel", ".py"), ("web/src/lib", ".ts"), ("web/src/lib", ".svelte")], ids=str
)
def test_a_name_that_stands_three_times_is_reported(tmp_path: Path, top: str, ending: str) -> None:
    twice = tree(tmp_path, f"{top}/shelf/people{ending}", f"{top}/rooms/people{ending}")
    assert list(complaints(twice)) == []
    thrice = tree(tmp_path, f"{top}/drop/people{ending}")
    assert list(complaints(thrice)) == [f"people stands 3 times: {top}/drop, {top}/rooms, {top}/shelf"]


def test_a_module_and_its_test_are_one_name(tmp_path: Path) -> None:
    files = [f"web/src/lib/{slice_}/order{ending}" for slice_ in ("shelf", "rooms") for ending in (".ts", ".test.ts")]
    assert list(complaints(tree(tmp_path, *files, "web/src/lib/rooms/order.svelte.ts"))) == []


def test_server_and_web_app_may_use_the_same_names(tmp_path: Path) -> None:
    tops = ("src/satchel/shelf", "src/satchel/rooms", "web/src/lib/shelf", "web/src/lib/rooms")
    files = [f"{top}/people{'.py' if top.startswith('src') else '.ts'}" for top in tops]
    assert list(complaints(tree(tmp_path, *files))) == []


def test_the_files_of_a_slices_shape_may_stand_in_every_slice(tmp_path: Path) -> None:
    slices = ("accounts", "shelf", "rooms", "drop")
    files = [f"src/satchel/features/{slice_}/{name}.py" for slice_ in slices for name in SHAPE_OF_A_SLICE]
    assert list(complaints(tree(tmp_path, *files))) == []


def test_the_exceptions_are_few_and_each_has_its_reason() -> None:
    assert len(NOUNS) <= 5
    assert all(NOUNS.values())
