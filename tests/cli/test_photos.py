"""Backing up, verifying and exporting photos from a terminal, with the real command and a real server."""

import json
import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from satchel.cli.photos.catalog_files import read_album_file, read_photo_file, xmp_packet
from satchel.media.metadata.xmp_packet import read_xmp
from tests.cli.photo_card import albums, fates, objects, shoot, sign_up
from tests.cli.terminal import Person, explains
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


@pytest.fixture
def someone(ann: Person, server: ServerProcess) -> Person:
    sign_up(ann, server.url)
    return ann


@pytest.fixture
def card(someone: Person) -> Path:
    """Six files: four photos in two folders, one of them twice; and one that is none."""
    card = someone.home / "card"
    shoot(card / "sea/IMG_1.JPG", "2024:07:10 12:00:00")
    shoot(card / "sea/IMG_2.JPG", "2024:07:12 12:00:00")
    shoot(card / "sea/large.JPG", "2024:07:11 12:00:00", more_bytes=3_000_000)
    shoot(card / "walk/IMG_1.JPG", "2024:10:01 12:00:00", mark="walk")
    (card / "walk/copy.JPG").write_bytes((card / "sea/IMG_1.JPG").read_bytes())
    (card / "notes.txt").write_text("no photo")
    shoot(card / ".trash/IMG_9.JPG")
    shoot(card / "sea/._IMG_1.JPG")
    return card


def call(person: Person, method: str, path: str, body: object = None) -> httpx.Response:
    server = person.kept["server"]
    headers = {"authorization": f"Bearer {person.kept['sessions'][server]['access_token']}"}
    answer = httpx.request(method, f"{server}/api/v1{path}", headers=headers, json=body)
    assert answer.is_success, answer.text
    return answer


def photo_path(person: Person, media_id: str) -> str:
    return f"/photos/{call(person, 'GET', '/accounts/me').json()['user_id']}/{media_id}"


def test_a_card_is_backed_up_once_and_every_file_has_its_fate(someone: Person, card: Path) -> None:
    expected = {
        "card/notes.txt": "not-a-photo",
        "card/sea/IMG_1.JPG": "new",
        "card/sea/IMG_2.JPG": "new",
        "card/sea/large.JPG": "new",
        "card/walk/IMG_1.JPG": "new",
        "card/walk/copy.JPG": "twice",
    }
    assert fates(someone.run("photos", "backup", "card", "--dry-run", "--json")) == expected
    assert albums(someone) == {}
    ran = someone.run("photos", "backup", "card", "--json")
    assert ran.code == 0, ran
    assert fates(ran) == {path: "stored" if fate == "new" else fate for path, fate in expected.items()}
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}
    again = someone.run("photos", "backup", "card", "--json")
    assert again.code == 0
    assert fates(again) == {path: "known" if fate == "new" else fate for path, fate in expected.items()}
    (known,) = [each for each in objects(again) if each["path"] == "card/walk/IMG_1.JPG"]
    assert known["album"] == "Q4 2024"
    assert not list((someone.home / ".config/satchel/uploads").iterdir())
    shoot(card / "new.JPG", "2024:01:01 12:00:00")
    assert "stored card/new.JPG in Q1 2024\n" in someone.run("photos", "backup", "card").out
    ran = someone.run("photos", "backup", "card", "--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_have_says_safe_only_if_the_server_has_read_every_file_again(someone: Person, card: Path) -> None:
    ran = someone.run("photos", "have", "card/sea")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "Error: Not safe to wipe: 3 files are not stored."
    assert someone.run("photos", "backup", "card").code == 0
    ran = someone.run("photos", "have", "card/sea", "--json")
    assert ran.code == 0
    assert set(fates(ran).values()) == {"verified"}
    assert all(each["verified_at"] and each["album"] == "Q3 2024" for each in objects(ran))
    ran = someone.run("photos", "have", "card/sea")
    assert ran.out.splitlines()[-1] == "Safe to wipe: all 3 files are stored and were read again."
    ran = someone.run("photos", "have", "card")
    assert ran.code == 1
    assert "Not safe to wipe: 1 file that is not a photo is not stored." in ran.err
    assert someone.run("photos", "have", "card", "--photos-only").code == 0
    shoot(card / "sea/IMG_3.JPG")
    ran = someone.run("photos", "have", "card/sea")
    assert ran.code == 1
    assert "missing card/sea/IMG_3.JPG" in ran.err
    assert "Not safe to wipe: 1 file is not stored; 3 files are stored." in ran.err


def test_a_photo_in_the_bin_is_not_safe_and_comes_back_only_if_asked_for(someone: Person, card: Path) -> None:
    assert (card / "walk").is_dir()
    stored = objects(someone.run("photos", "backup", "card/walk", "--json"))
    media_id = next(each["id"] for each in stored if each["path"] == "card/walk/IMG_1.JPG")
    call(someone, "DELETE", photo_path(someone, media_id))
    ran = someone.run("photos", "have", "card/walk", "--json")
    assert ran.code == 1
    assert fates(ran)["card/walk/IMG_1.JPG"] == "missing"
    assert "bin" in next(each["why"] for each in objects(ran) if each["path"] == "card/walk/IMG_1.JPG")
    assert fates(someone.run("photos", "backup", "card/walk", "--json"))["card/walk/IMG_1.JPG"] == "binned"
    assert (
        fates(someone.run("photos", "backup", "card/walk", "--json", "--from-bin"))["card/walk/IMG_1.JPG"] == "stored"
    )
    assert someone.run("photos", "have", "card/walk").code == 0


def test_what_cannot_be_read_is_told_and_fails_the_command(someone: Person, card: Path) -> None:
    ran = someone.run("photos", "backup", "card", "absent")
    assert ran.code == 1
    assert "unreadable absent: No such file or directory" in ran.err
    assert "Some files were not stored." in ran.err
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}


def test_an_unchanged_file_is_not_read_again(someone: Person, card: Path) -> None:
    assert someone.run("photos", "backup", "card").code == 0
    path = card / "sea/IMG_1.JPG"
    before = path.stat()
    path.write_bytes(b"\xff" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fates(someone.run("photos", "backup", "card", "--json"))["card/sea/IMG_1.JPG"] == "known"
    assert fates(someone.run("photos", "backup", "card", "--json", "--no-cache"))["card/sea/IMG_1.JPG"] == "stored"


def test_a_killed_backup_goes_on(someone: Person) -> None:
    for number in range(6):
        shoot(someone.home / f"card/{number}.JPG", f"2024:07:1{number} 12:00:00", more_bytes=20_000_000)
    command = someone.start("photos", "backup", "card", "--json")
    journals = someone.home / ".config/satchel/uploads"
    deadline = time.monotonic() + 60
    while not any(journal.stat().st_size > 60 for journal in journals.glob("*.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=60)
    assert command.returncode == 130
    assert "Run the same command again" in said
    ran = someone.run("photos", "backup", "card", "--json")
    assert ran.code == 0, ran
    assert albums(someone) == {"Q3 2024": 6}
    assert someone.run("photos", "have", "card").code == 0


def test_sidecars_go_along(someone: Person) -> None:
    card = someone.home / "takeout"
    shoot(card / "party.jpg", "")
    taken = {"timestamp": "1588327200"}
    facts = {"title": "party.jpg", "photoTakenTime": taken, "favorited": True, "description": "two\nlines"}
    (card / "party.jpg.supplemental-metadata.json").write_text(json.dumps(facts | {"people": ["x" * 9000]}, indent=2))
    shoot(card / "hill.jpg", "")
    packet = xmp_packet(taken="2019-03-02T10:00:00", latitude=1.5, longitude=-2.25, description="up")
    (card / "hill.xmp").write_text(packet + "<!--" + " padding" * 2000 + "-->")
    (card / "other.json").write_text("{}")
    ran = someone.run("photos", "backup", "takeout", "--json", TZ="Europe/Berlin")
    assert ran.code == 0, ran
    assert fates(ran) == {
        "takeout/hill.jpg": "stored",
        "takeout/hill.xmp": "sidecar",
        "takeout/other.json": "not-a-photo",
        "takeout/party.jpg": "stored",
        "takeout/party.jpg.supplemental-metadata.json": "sidecar",
    }
    ids = {each["path"]: each.get("id") for each in objects(ran)}
    party = call(someone, "GET", photo_path(someone, ids["takeout/party.jpg"])).json()
    assert (party["time_source"], party["favourite"]) == ("takeout", True)
    assert party["local_time"].startswith("2020-05-01T12:00:00")
    hill = call(someone, "GET", photo_path(someone, ids["takeout/hill.jpg"])).json()
    assert hill["local_time"].startswith("2019-03-02T10:00:00")
    assert (hill["position"]["latitude"], hill["position"]["longitude"]) == (1.5, -2.25)
    assert hill["description"] == "up"


def test_scan_proposes_an_album_per_folder_and_changes_nothing(someone: Person, card: Path) -> None:
    ran = someone.run("photos", "scan", "card", "--json")
    assert ran.code == 0
    proposed = {each["folder"]: each for each in objects(ran)}
    assert proposed["card/sea"] == {
        "folder": "card/sea",
        "name": "sea",
        "start": "2024-07-10",
        "end": "2024-07-13",
        "files": 3,
        "new": 3,
        "undated": 0,
        "days": {"2024-07-10": 1, "2024-07-11": 1, "2024-07-12": 1},
    }
    assert "satchel album create sea --from 2024-07-10 --to 2024-07-12" in someone.run("photos", "scan", "card").out
    assert albums(someone) == {}
    # A proposal without the days of what could not be read is no success.
    ran = someone.run("photos", "scan", "card", "absent", "--json")
    assert (ran.code, len(objects(ran))) == (1, len(proposed))
    assert "absent could not be read." in ran.err


def test_an_export_restores_a_library_elsewhere(
    someone: Person, bob: Person, card: Path, server: ServerProcess
) -> None:
    shoot(card / "sea/again/IMG_1.JPG", "2024:07:10 13:00:00", mark="same name")
    shoot(card / "scan.JPG", "", mark="scanned")
    os.utime(card / "scan.JPG", (1_000_000_000, 1_000_000_000))
    stored = {each["path"]: each.get("id", "") for each in objects(someone.run("photos", "backup", "card", "--json"))}
    assert someone.run("album", "create", "By the sea", "--from", "2024-07-10", "--to", "2024-07-12", "--yes").code == 0
    assert someone.run("album", "share", "By the sea", "guest@example.org").code == 0
    assert someone.run("album", "pin", "By the sea", "card/walk/IMG_1.JPG").code == 0
    call(someone, "PATCH", photo_path(someone, stored["card/sea/IMG_2.JPG"]), {"favourite": True})
    corrected = {"local_time": "2024-08-02T09:00:00"}
    call(someone, "PATCH", photo_path(someone, stored["card/sea/large.JPG"]), corrected)

    ran = someone.run("photos", "export", "out")
    assert ran.code == 0, ran
    out = someone.home / "out"
    names = {path.name for path in (out / "2024-07_By_the_sea").iterdir()}
    assert {"IMG_1.JPG", "IMG_1 (1).JPG", "IMG_1 (2).JPG", "IMG_2.JPG", "album.satchel.json"} <= names
    album = read_album_file((out / "2024-07_By_the_sea/album.satchel.json").read_bytes())
    assert album is not None
    assert [reader.email for reader in album.people] == ["guest@example.org"]
    sidecar = read_photo_file((out / "2024-07_By_the_sea/IMG_2.JPG.satchel.json").read_bytes())
    assert sidecar is not None
    assert sidecar.photo.favourite
    assert read_xmp((out / "2024-07_By_the_sea/IMG_2.JPG.xmp").read_text()).taken is not None
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.JPG")}
    assert someone.run("photos", "export", "out").code == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.JPG")} == before

    sign_up(bob, server.url)
    out.rename(bob.home / "out")
    ran = bob.run("photos", "backup", "out", "--json")
    assert ran.code == 0, ran
    assert "not-a-photo" not in fates(ran).values()
    assert catalog(bob) == catalog(someone)
    assert fates(bob.run("photos", "backup", "out", "--json")) == {
        path: "known" if fate == "stored" else fate for path, fate in fates(ran).items()
    }
    assert catalog(bob) == catalog(someone)


def catalog(person: Person) -> dict[tuple[str, str, str, str], list[tuple[object, ...]]]:
    """Everything that a library says of its albums and photos."""
    owner = call(person, "GET", "/accounts/me").json()["user_id"]
    found: dict[tuple[str, str, str, str], list[tuple[object, ...]]] = {}
    for album in call(person, "GET", "/albums").json()["albums"]:
        medias = call(person, "GET", f"/albums/{album['album_id']}/medias").json()
        photos = [call(person, "GET", f"/photos/{owner}/{media_id}").json() for media_id in medias["ids"]]
        told = ("id", "name", "local_time", "pinned", "favourite", "guessed", "position", "description")
        key = (album["name"], album["folder"], album["start"], album["end"])
        found[key] = [tuple(photo[each] for each in told) for photo in photos]
    return found


def test_watch_stores_what_comes_later(someone: Person, card: Path) -> None:
    command = someone.start("photos", "backup", "card/sea", "--watch", "--json", PYTHONUNBUFFERED="1")
    assert command.stdout is not None
    lines = [command.stdout.readline() for _ in range(3)]
    assert all('"stored"' in line for line in lines)
    shoot(card / "sea/later.JPG", "2024:07:11 15:00:00")
    deadline = time.monotonic() + 60
    while albums(someone) != {"Q3 2024": 4}:
        assert command.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.5)
    command.send_signal(signal.SIGINT)
    said, _ = command.communicate(timeout=30)
    assert command.returncode == 0
    assert [each["path"] for each in map(json.loads, said.splitlines())] == ["card/sea/later.JPG"]


def test_without_a_folder_or_a_session_one_sentence_explains(ann: Person, server: ServerProcess) -> None:
    shoot(ann.home / "card/1.JPG")
    assert explains(ann.run("photos", "backup", "card", "--server", server.url), 1, "not signed in")
    assert explains(ann.run("photos", "have", "card", "--server", server.url), 1, "not signed in")


def test_an_empty_folder_is_no_failure(someone: Person) -> None:
    (someone.home / "empty").mkdir()
    ran = someone.run("photos", "backup", "empty")
    assert (ran.code, ran.out) == (0, "There is no photo here.\n")


def test_photos_are_found_by_words(someone: Person, card: Path) -> None:
    assert someone.run("photos", "backup", str(card), "--quiet").code == 0
    found = someone.run("photos", "find", "large", "2024-07", "--json")
    assert [json.loads(line)["name"] for line in found.out.splitlines()] == ["large.JPG"]
    assert "IMG_2.JPG" in someone.run("photos", "find", "--from", "2024-07-12", "--to", "2024-07-12").out
    nothing = someone.run("photos", "find", "nowhere")
    assert (nothing.code, nothing.out) == (1, "")
    assert someone.run("photos", "find", "--limit", "many").code == 2
