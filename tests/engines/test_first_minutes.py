"""The first things that people do with Satchel, in an engine that is not Chromium."""

from pathlib import Path

import pytest

from tests.engines.conftest import People
from tests.engines.page import EnginePage

pytestmark = pytest.mark.services

PASSWORD = "correct horse battery staple"
CONTENT = b"what was handed over\n" * 20_000


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_bytes(CONTENT)
    return path


def test_a_member_uploads_and_gives_a_link_from_which_a_stranger_downloads(people: People, letter: Path) -> None:
    ann, stranger = people.come(), people.come()
    sign_up(ann, "Ann")
    ann.go("/shelf")
    ann.choose(letter)
    ann.press("Select letter.txt")
    ann.press("Share")
    ann.press("Link and QR code")
    address = ann.value("Link address")
    stranger.go(address)
    stranger.read("main", "Ann shares a file with you")
    stranger.press("Download")
    assert people.saved("letter.txt", stranger) == CONTENT
    ann.go("/links")
    ann.read("article", "1 download")


def test_a_member_and_a_guest_talk_in_a_room_and_one_takes_what_the_other_brought(people: People, letter: Path) -> None:
    ann, ben = people.come(), people.come()
    sign_up(ann, "Ann")
    ann.go("/rooms")
    ann.write("Room name", "Physics 7b")
    ann.press("Open room")
    address = ann.wait_for_path("/rooms/")
    code = ann.called("[role=img]", "The code is").removeprefix("The code is").replace(" ", "")
    ben.go(f"/guest?next=/join/{code}")
    ben.write("Name", "Ben")
    ben.press("Continue")
    assert ben.wait_for_path("/rooms/") == address
    say(ann, "Hello, Ben")
    ben.read("[role=log]", "Hello, Ben")
    say(ben, "Hello, Ann")
    ann.read("[role=log]", "Hello, Ann")
    ann.choose(letter)
    ben.read("main", "Ann sends everyone a file")
    ben.press("Download")
    assert people.saved("letter.txt", ben) == CONTENT


def test_strangers_hand_files_over_in_both_directions_by_a_spoken_code(people: People, letter: Path) -> None:
    ann, ben = people.come(), people.come()
    ann.go("/drop")
    ann.choose(letter)
    name, code = ann.read(".spoken .name"), ann.read(".spoken .code").replace(" ", "")
    ben.go("/drop")
    ben.write("Code or link", f"{name}-{code}")
    ben.press("Join")
    ben.press("Receive")
    assert people.saved("letter.txt", ben) == CONTENT
    ann.read("main", "Received and verified by")
    answer = letter.with_name("answer.txt")
    answer.write_bytes(CONTENT[::-1])
    ben.choose(answer)
    ann.press("Receive")
    assert people.saved("answer.txt", ann) == CONTENT[::-1]


def sign_up(page: EnginePage, name: str) -> None:
    page.go("/sign-up")
    page.write("Name", name)
    page.write("E-mail address", f"{name.lower()}@example.org")
    page.write("Password", PASSWORD)
    page.press("Create account")
    page.wait_for_path("/", exactly=True)


def say(page: EnginePage, text: str) -> None:
    page.write("Message", text)
    page.press("Send")
