"""Albums from a terminal: what a change would do is told before it is asked, and each can be undone."""

import json
from pathlib import Path

import pytest

from satchel.cli.albums.album_days import end_of, shown_days, start_of
from satchel.cli.engine.terminal.output import Misused
from tests.cli.photo_card import albums, shoot, sign_up
from tests.cli.terminal import AtOnce, Person, explains
from tests.server.process import ServerProcess

SEA = ("album", "create", "Sea", "--from", "2024-07-10", "--to", "2024-07-12")


@pytest.fixture
def someone(ann: Person, server: ServerProcess) -> Person:
    """With three photos in July and one in October."""
    sign_up(ann, server.url)
    for day in ("07:10", "07:11", "07:12", "10:01"):
        shoot(ann.home / f"card/{day.replace(':', '-')}.JPG", f"2024:{day} 12:00:00")
    assert ann.run("photos", "backup", "card").code == 0
    return ann


def test_the_last_day_counts_for_people_and_the_moment_after_it_for_the_server() -> None:
    assert (start_of("2024-07-10"), end_of("2024-07-12")) == ("2024-07-10T00:00:00", "2024-07-13T00:00:00")
    assert end_of("2024-07-12T18:00") == "2024-07-12T18:00:00"
    assert shown_days("2024-07-10T00:00:00", "2024-07-13T00:00:00") == "2024-07-10 – 2024-07-12"
    assert shown_days("2024-07-10T00:00:00", "2024-07-11T00:00:00") == "2024-07-10"
    assert shown_days("2024-07-10T08:30:00", "2024-07-10T09:30:00") == "2024-07-10 08:30 – 2024-07-10 09:30"
    with pytest.raises(Misused):
        start_of("10.7.2024")


@pytest.mark.slow
def test_an_album_is_made_after_its_plan_was_agreed_to(someone: Person) -> None:
    ran = someone.run_in_terminal(*SEA, answers=[("[y/N]", "n\n")])
    assert ran.code == 1
    assert "3 photos would move: Q3 2024 → Sea" in ran.out
    assert "Nothing was done." in ran.out
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}
    ran = someone.run_in_terminal(*SEA, answers=[("[y/N]", "y\n")])
    assert ran.code == 0
    assert albums(someone) == {"Q3 2024": 0, "Q4 2024": 1, "Sea": 3}
    undo = ran.out.splitlines()[-1].removeprefix("To undo it: satchel ").split()
    assert someone.run(*undo, "--yes").code == 0
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}
    assert someone.run(*SEA).code == 2


@pytest.mark.slow
def test_somebody_leaves_an_album_that_is_shared_with_them(someone: Person, bob: Person, server: ServerProcess) -> None:
    album = someone.run(*SEA, "--yes", "--json").json["album"]["album_id"]
    address = sign_up(bob, server.url)
    assert someone.run("album", "share", album, address).code == 0
    assert explains(bob.run("album", "unshare", album, address), 1, "satchel album leave")
    assert bob.run("album", "leave", album).code == 2
    assert "Sea" in albums(bob)
    ran = bob.run("album", "leave", album, "--yes")
    assert (ran.code, ran.out) == (0, "You have left Sea.\n")
    assert albums(bob) == {}
    assert explains(bob.run("album", "leave", album, "--yes"), 1, "no album")
    assert explains(someone.run("album", "leave", album, "--yes"), 1, "yours")
    assert someone.run("album", "show", album, "--json").json["people"] == []


@pytest.mark.slow
def test_dates_and_deletion_say_who_would_newly_see_what(someone: Person) -> None:
    assert someone.run(*SEA, "--yes", "--json").json["album"]["medias"] == 3
    ran = someone.run("album", "share", "Sea", "bob@example.org", "--contributor")
    assert ran.out == "Sea: bob@example.org sees it and may add photos. They have no account yet.\n"
    ran = someone.run("album", "dates", "sea", "--to", "2024-10-01", "--yes")
    assert ran.code == 0
    assert "1 photo would move: Q4 2024 → Sea" in ran.err
    assert "newly seen by bob@example.org" in ran.err
    assert albums(someone)["Sea"] == 4
    shown = someone.run("album", "show", "Sea")
    assert "Sea, 2024-07-10 – 2024-10-01, 4 photos" in shown.out
    assert "bob@example.org, contributor" in shown.out
    assert someone.run("album", "show", "/2024-07_Sea", "--json").json["days"]["2024-10-01"] == 1
    ran = someone.run("album", "unshare", "Sea", "bob@example.org")
    assert ran.out == "bob@example.org does not see Sea any more.\n"
    assert explains(someone.run("album", "unshare", "Sea", "bob@example.org"), 1, "not shared")
    ran = someone.run("album", "delete", "Sea", "--yes")
    assert ran.code == 0
    assert "The album Sea is deleted." in ran.out
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}
    # Days later nobody has the output of that command any more.
    listed = someone.run("album", "changes", "--limit", "2").out.splitlines()
    told = [" ".join(line.split()[2:]) for line in listed[::2]]
    assert told == ["deleted Sea, 4 photos moved", "other dates Sea, 1 photo moved"]
    last = json.loads(someone.run("album", "changes", "--json").out.splitlines()[0])
    assert (last["kind"], last["undone_by"]) == ("delete", None)
    assert listed[1].split() == ["satchel", "album", "undo", last["act_id"]]
    assert someone.run(*listed[1].split()[1:], "--yes").code == 0
    assert albums(someone) == {"Q3 2024": 0, "Q4 2024": 0, "Sea": 4}
    assert "Sea, 4 photos moved, undone" in someone.run("album", "changes").out
    assert someone.run("album", "check").out == "All counts and shares are right.\n"
    assert someone.run("stats", "album:sea", "--json").json["scope"].startswith("thing:album:")
    # What moves nothing is not asked about.
    assert someone.run("album", "rename", "Sea", "Lake").code == 0
    assert "Lake" in albums(someone)


@pytest.mark.slow
def test_photos_that_would_be_in_no_album_refuse_a_change_unless_quarters_are_wanted(someone: Person) -> None:
    ran = someone.run("album", "dates", "Q3 2024", "--from", "2024-07-11", "--yes")
    assert ran.code == 1
    assert "1 photo of 2024-07-10 to 2024-07-10 would be in no album. Give --quarters" in ran.err
    assert someone.run("album", "delete", "Q4 2024", "--yes", "--quarters").code == 0
    assert albums(someone) == {"Q3 2024": 3, "Q4 2024": 1}


@pytest.mark.slow
def test_an_album_is_renamed_and_photos_are_pinned(someone: Person) -> None:
    assert someone.run(*SEA, "--yes").code == 0
    assert someone.run("album", "rename", "Sea", "Lake", "--folder", "", "--yes").code == 0
    shown = someone.run("album", "show", "2024-07_Sea", "--json").json
    assert (shown["name"], shown["folder"]) == ("Lake", "/2024-07_Lake")
    ran = someone.run("album", "pin", "Lake", "card/10-01.JPG")
    assert ran.out == "card/10-01.JPG stays in Lake.\n"
    assert albums(someone)["Lake"] == 4
    ran = someone.run("album", "pin", "Lake", "card/10-01.JPG", "--remove")
    assert ran.out == "card/10-01.JPG is by its date in Q4 2024.\n"
    other = shoot(Path(someone.home) / "other.JPG")
    assert explains(someone.run("album", "pin", "Lake", other.name), 1, "is not stored")
    assert explains(someone.run("album", "show", "nowhere"), 1, "There is no album nowhere")


def test_what_is_missing_is_said_at_once(at_once: AtOnce) -> None:
    assert explains(at_once("album", "create", "Sea"), 2, "--from and --to")
    assert explains(at_once("album", "dates", "Sea"), 2, "--from, --to")
    assert explains(at_once("album", "rename", "Sea"), 2, "--folder")
    assert explains(at_once("album", "create", "Sea", "--from", "soon", "--to", "later"), 2, "2025-07-14")
