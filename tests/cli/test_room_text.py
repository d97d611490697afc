"""What a terminal is told of rooms and transfers, in words that are safe for it."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis.strategies import characters, sampled_from, text
from msgspec.structs import replace

from satchel.cli.engine.api_types.room_types import KnockView, OccupantView, RoomView
from satchel.cli.engine.api_types.transfer_types import (
    CountsView,
    ReceiptView,
    ReceiverView,
    SenderView,
    TransferFileView,
    TransferView,
)
from satchel.cli.engine.files.download import local_path
from satchel.cli.engine.resources.room_join import letters_of
from satchel.cli.engine.resources.transfer_text import where_answers_go, whereabouts
from satchel.cli.engine.terminal.columns import fitted, shown_width
from satchel.cli.rooms.narrator import Narrator
from satchel.cli.rooms.room_changes import changes
from satchel.cli.transfers.transfer_list import history


def person(name: str, *, here: bool = True) -> OccupantView:
    return OccupantView(
        person_id=name.lower(),
        name=name,
        kind="member",
        is_owner=name == "Ann",
        here=here,
        devices=["Command line"] if here else [],
        joined_at="2026-03-01T10:00:00.000Z",
    )


ROOM = RoomView(
    room_id="room",
    code="QKZPA",
    link="https://satchel.example.org/join/QKZPA",
    name="Practice",
    owner_id="ann",
    you="ann",
    is_owner=True,
    opened_at="2026-03-01T10:00:00.000Z",
    expires_at="2026-03-01T18:00:00.000Z",
    locked=False,
    admits="anyone",
    used_bytes=0,
    quota_bytes=0,
    people=[person("Ann"), person("Bob")],
    knocks=[],
)


def told(before: RoomView, now: RoomView) -> list[str]:
    return [change.sentence for change in changes(before, now)]


def test_people_who_come_go_and_lose_their_connection_are_told_of() -> None:
    assert told(ROOM, replace(ROOM, people=[*ROOM.people, person("Cat")])) == ["Cat joined (Command line)."]
    assert told(ROOM, replace(ROOM, people=[person("Ann")])) == ["Bob left the room."]
    away = replace(ROOM, people=[person("Ann"), person("Bob", here=False)])
    assert told(ROOM, away) == ["Bob is away."]
    assert told(away, ROOM) == ["Bob is back (Command line)."]


def test_nobody_is_told_of_themselves_and_a_room_that_is_the_same_is_no_news() -> None:
    assert told(ROOM, ROOM) == []
    assert told(ROOM, replace(ROOM, people=[person("Ann", here=False), person("Bob")])) == []


def test_a_knock_is_told_once_with_what_to_do() -> None:
    knock = KnockView(person_id="dan", name="Dan", kind="guest", at="2026-03-01T10:00:00.000Z")
    knocking = replace(ROOM, knocks=[knock])
    assert told(ROOM, knocking) == ["Dan knocks. Let them in with `satchel room admit Dan`."]
    assert told(knocking, knocking) == []
    stranger = replace(ROOM, knocks=[replace(knock, person_id="guest-dan", name="Ann")])
    assert told(ROOM, stranger) == ["Ann (guest) knocks. Let them in with `satchel room admit Ann`."]


def test_what_the_owner_changes_is_told() -> None:
    assert told(ROOM, replace(ROOM, locked=True)) == ["The room is now locked."]
    assert told(ROOM, replace(ROOM, admits="knock")) == ["People have to knock now."]
    assert told(ROOM, replace(ROOM, name="Concert")) == ["The room is now called Concert."]
    assert told(ROOM, replace(ROOM, code="ABCDE")) == ["The code of the room is now ABCDE."]
    assert "is now open until" in told(ROOM, replace(ROOM, expires_at="2026-03-02T18:00:00.000Z"))[0]


def test_whatever_others_write_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    narrator = Narrator(as_json=False)
    narrator.tell("chat", "one\x1b]0;title\x07\x1b[2Jtwo\r\nthree\u202efour", who="Ev\x1b[31mil")
    out = capsys.readouterr().out
    assert all(letter == "\n" or letter.isprintable() for letter in out)
    first, second = out.splitlines()
    assert "Ev�[31mil: one�]0;title��[2Jtwo" in first
    assert second.endswith("       three�four")


def test_machines_get_all_of_it_as_an_object_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Narrator(as_json=True).tell("chat", "not this", at="2026-03-01T10:00:00.000Z", message={"text": "a\nb"})
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"type": "chat", "at": "2026-03-01T10:00:00.000Z", "message": {"text": "a\nb"}}


def test_japanese_spaces_are_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    Narrator(as_json=False).tell("chat", "楽譜\u3000です")
    assert "楽譜 です" in capsys.readouterr().out


@pytest.mark.parametrize("typed", ["qkzpa", " QKZ PA ", "qkz-pa", "https://satchel.example.org/join/QKZPA#k-Ey"])
def test_a_code_is_read_however_it_was_typed(typed: str) -> None:
    assert letters_of(typed) == "QKZPA"


@given(path=text(alphabet=characters() | sampled_from("./\\")))
@example(path="../../.ssh/authorized_keys")
@example(path="/etc/passwd")
@example(path="")
@example(path="\ud800")
@example(path="\udc80/\udcff.txt")
def test_wherever_a_server_says_that_a_file_belongs_it_stays_below_its_folder(path: str) -> None:
    assert Path("folder").resolve() in Path("folder", local_path(path)).resolve().parents


def test_columns_are_as_wide_as_they_look() -> None:
    assert fitted("楽譜.txt", 10) == "楽譜.txt  "
    assert fitted("楽譜楽譜楽譜", 6) == "楽譜… "
    assert shown_width(fitted("🎻 a long name", 7)) == 7


def transfer(number: int, *, names: list[str], direction: str = "sent") -> TransferView:
    files = [
        TransferFileView(place=place, name=name, folder="", size_bytes=1000, sha256="", executable=False)
        for place, name in enumerate(names)
    ]
    return TransferView(
        transfer_id=f"{number:026}",
        direction="sent" if direction == "sent" else "received",
        sender=SenderView(person_id="ann", name="Ann"),
        receiver=ReceiverView(kind="person", id="bob", name="Bob"),
        sent_at="2026-03-01T10:00:00.000Z",
        note="",
        file_count=len(files),
        size_bytes=1000 * len(files),
        files=files,
        receipts=[],
        counts=CountsView(offered=0, shelved=0, opened=0, downloaded=0, verified=0, declined=0, withdrawn=0),
        state="verified",
        is_available=True,
        wants_answers=False,
        asks_first=False,
        answers=None,
        shelf_folder=None,
        answers_folder=None,
        missing=[],
    )


def test_the_history_stands_in_columns_and_ends_with_what_names_a_transfer() -> None:
    first, second = history(
        [transfer(1, names=["a.pdf"]), transfer(2, names=["b.pdf", "c.pdf", "d.pdf"], direction="received")]
    )
    assert "to Bob    a.pdf, 1.0 kB             verified    00000001" in first
    assert "from Ann  b.pdf and 2 more, 3.0 kB  verified    00000002" in second


def test_a_transfer_says_where_its_files_are_and_where_answers_go() -> None:
    receipt = ReceiptView(
        person_id="ann",
        name="Ann",
        kind="member",
        state="offered",
        offered_at="1",
        shelved_at=None,
        opened_at=None,
        answer=None,
    )
    handed_in = replace(
        transfer(1, names=["a.txt"]), answers="x", shelf_folder="Received/Essay/Bob", receipts=[receipt]
    )
    assert "no space" in whereabouts(handed_in)
    landed = replace(handed_in, receipts=[replace(receipt, state="shelved", shelved_at="2")])
    assert whereabouts(landed) == "On Ann's shelf, in “Received/Essay/Bob”."
    assert whereabouts(replace(landed, direction="received")) == "On your shelf, in “Received/Essay/Bob”."
    saved = replace(landed, receipts=[replace(receipt, state="opened", opened_at="2", shelved_at="3")])
    assert whereabouts(saved) == "On Ann's shelf."
    asked = replace(transfer(2, names=["task.txt"]), wants_answers=True)
    assert "deleted when it ends" in where_answers_go(asked)
    assert "your shelf, into “Received/Essay”" in where_answers_go(replace(asked, answers_folder="Received/Essay"))
