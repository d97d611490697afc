"""Clocks of cameras and photos that look alike, from a terminal."""

import time

import pytest

from satchel.cli.engine.terminal.output import Misused
from satchel.cli.photos.clock_correct import shift_of
from tests.cli.photo_card import albums, objects, shoot, sign_up
from tests.cli.terminal import AtOnce, Person, explains
from tests.media import samples
from tests.server.process import ServerProcess


def test_an_amount_is_read_as_people_write_it() -> None:
    assert [shift_of(each) for each in ("+1h", "-1h30m", "+2d", " +1D2H3M4S ")] == [3600, -5400, 172800, 93784]
    for wrong in ("1h", "+", "+1", "+1w", "h", "+1h-2m", "+-1h"):
        with pytest.raises(Misused):
            shift_of(wrong)


def test_what_does_not_go_together_is_said_at_once(at_once: AtOnce) -> None:
    assert explains(at_once("photos", "clock", "R5", "--by", "+1h"), 2, "--album, or --from and --to")
    assert explains(at_once("photos", "clock", "R5", "--album", "Sea"), 2, "both a camera and --by")
    assert explains(at_once("photos", "clock", "R5", "--by", "1h", "--album", "Sea"), 2, "+1h30m")
    assert explains(at_once("photos", "clock", "R5", "--undo", "x"), 2, "--undo needs nothing but")
    assert explains(at_once("photos", "duplicates", "x"), 2, "--keep-best")
    assert explains(at_once("photos", "duplicates", "--keep-best"), 2, "Name one group")


@pytest.mark.slow
def test_a_clock_is_corrected_after_its_plan_was_agreed_to_and_undone(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server.url)
    for hour in (21, 22, 23):
        shoot(ann.home / f"card/a{hour}.JPG", f"2024:09:30 {hour}:30:00", mark=" A")
        shoot(ann.home / f"card/b{hour}.JPG", f"2024:09:30 {hour}:45:00", mark=" B")
    assert ann.run("photos", "backup", "card").code == 0
    where = ("--album", "Q3 2024")
    listed = ann.run("photos", "clock", *where, "--json").json["cameras"]
    assert [(each["camera"], each["medias"]) for each in listed] == [("Canon R5 A", 3), ("Canon R5 B", 3)]
    assert "Canon R5 A" in ann.run("photos", "clock", *where).out
    assert explains(ann.run("photos", "clock", "R5", "--by", "+1h", *where), 1, "2 cameras are called R5")
    wanted = ("photos", "clock", "r5 a", "--by", "+1h", *where)
    ran = ann.run(*wanted, "--dry-run")
    assert ran.code == 0
    assert "3 photos would have another time." in ran.err
    assert "2024-09-30 21:30:00 → 2024-09-30 22:30:00" in ran.err
    assert "1 photo would move: Q3 2024 → Q4 2024" in ran.err
    assert ann.run(*wanted, "--dry-run", "--json").json["plan"]["medias"] == 3
    ran = ann.run_in_terminal(*wanted, answers=[("[y/N]", "n\n")])
    assert (ran.code, albums(ann)) == (1, {"Q3 2024": 6})
    ran = ann.run(*wanted, "--yes")
    assert ran.code == 0
    assert albums(ann) == {"Q3 2024": 5, "Q4 2024": 1}
    undo = ran.out.splitlines()[-1].removeprefix("To undo it: satchel ").split()
    assert "would move: Q4 2024 → Q3 2024" in ann.run(*undo, "--dry-run").err
    assert ann.run(*undo, "--yes", "--json").json["act"]["kind"] == "clock"
    assert albums(ann)["Q3 2024"] == 6
    days = ("--from", "2024-09-30", "--to", "2024-09-30")
    assert ann.run("photos", "clock", "Canon R5 B", "--by", "-1d", *days, "--yes").code == 0
    assert explains(ann.run("photos", "clock", "Leica", "--by", "+1h", *where), 1, "The cameras are: Canon R5 A")


@pytest.mark.slow
def test_look_alikes_are_listed_and_decided_about(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server.url)
    assert ann.run("photos", "duplicates").out == "No photos look alike.\n"
    (ann.home / "card").mkdir()
    for second in range(3):
        path = ann.home / f"card/{second}.JPG"
        path.write_bytes(samples.taken(f"2024:01:31 12:00:0{second}"))
    assert ann.run("photos", "backup", "card").code == 0
    deadline = time.monotonic() + 120
    # The server makes pictures after it has answered.
    while not (found := objects(ann.run("photos", "duplicates", "--json"))) or len(found[0]["names"]) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    (group,) = found
    assert sorted(group["names"]) == ["0.JPG", "1.JPG", "2.JPG"]
    shown = ann.run("photos", "duplicates").out
    short = group["group_id"].lstrip("-")[:12]
    assert f"Group {short}, 3 photos" in shown
    assert "best" in shown
    assert explains(ann.run("photos", "duplicates", "nothing-here", "--keep-best"), 1, "There is no group")
    keep = group["photos"]["ids"][:2]
    kept = ("--keep", keep[0], "--keep", keep[1], "--yes", "--json")
    assert ann.run("photos", "duplicates", short, *kept).json["deleted"] == 1
    (left,) = objects(ann.run("photos", "duplicates", "--json"))
    assert ann.run("photos", "duplicates", "--different", "--", left["group_id"]).code == 0
    assert objects(ann.run("photos", "duplicates", "--json")) == []
