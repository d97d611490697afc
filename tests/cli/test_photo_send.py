"""Photos of the library that are sent to a person or into a room from a terminal."""

import json
import random
from pathlib import Path

import pytest

from tests.application import PASSWORD
from tests.cli.photo_card import objects, shoot
from tests.cli.terminal import AtOnce, Person, explains
from tests.cli.test_put_get import contents, listed
from tests.features.albums.test_photo_access import PLACED
from tests.features.albums.test_photo_places import has_place
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


def sign_up(person: Person, server: ServerProcess, name: str) -> str:
    email = f"{name.lower()}{random.randrange(10**12)}@example.org"
    signup = ("signup", "--server", server.url, "--email", email, "--name", name)
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    return email


@pytest.fixture
def sender(ann: Person, server: ServerProcess) -> Person:
    """Has two photos of one album; one says where it was taken."""
    sign_up(ann, server, "Ann")
    shoot(ann.home / "card/sea.JPG", "2024:01:12 12:00:00")
    (ann.home / "card/home.JPG").write_bytes(PLACED)
    assert ann.run("photos", "backup", "card", "--quiet").code == 0
    return ann


def test_a_person_gets_copies_without_the_place(sender: Person, bob: Person, server: ServerProcess) -> None:
    address = sign_up(bob, server, "Bob")
    ran = sender.run("photos", "send", "--album", "Q1 2024", "--to", address, "--note", "for you", "--json")
    assert ran.code == 0, ran
    (handed,) = objects(ran)
    assert (handed["result"], handed["transfer"]["note"]) == ("handed over", "for you")
    assert len(handed["transfer"]["files"]) == 2
    assert bob.run("get", "--transfer", handed["transfer"]["transfer_id"], "--into", "here").code == 0
    got = contents(bob.home / "here")
    assert len(got) == 2
    assert not any(map(has_place, got.values()))
    assert has_place((sender.home / "card/home.JPG").read_bytes())
    assert len(listed(sender, "Sent")) == 1
    waited = sender.run("photos", "send", "card/sea.JPG", "--to", address, "--wait-for", "1")
    assert waited.code == 1
    assert waited.out.startswith(f"Sent to {address}: transfer ")
    assert "Not verified yet by Bob." in waited.err


def test_a_room_gets_them_and_so_does_one_person_in_it(sender: Person, bob: Person, server: ServerProcess) -> None:
    sign_up(bob, server, "Bob")
    code = json.loads(sender.run("room", "open", "--name", "Practice", "--json").out)["code"]
    assert bob.run("room", "join", code).code == 0
    sent = sender.run("photos", "send", "card/sea.JPG", "--room", code)
    assert sent.out.startswith("Sent to Practice: transfer "), sent
    (file,) = bob.run("room", "ls", "--json").json["files"]
    assert "sea" in file["name"]
    assert sender.run("photos", "send", "card/home.JPG", "--room", code, "--for", "Bob").code == 0
    assert len(bob.run("room", "ls", "--json").json["files"]) == 2


def test_nothing_is_copied_for_nobody(sender: Person, at_once: AtOnce) -> None:
    assert explains(sender.run("photos", "send", "card/sea.JPG", "--to", "nobody@example.org"), 1)
    Path(sender.home / "new.JPG").write_bytes(b"not stored")
    assert explains(sender.run("photos", "send", "new.JPG", "--room", "QQQQQ"), 1)
    assert listed(sender) == []
    assert explains(at_once("photos", "send", "sea.JPG"), 2, "--to or --room")
    assert explains(at_once("photos", "send", "--to", "bob@example.org"), 2, "--album")
    assert explains(at_once("photos", "send", "sea.JPG", "--to", "b@example.org", "--for", "Bob"), 2, "--room")
