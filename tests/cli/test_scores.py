"""Sheet music from a terminal: files become scores, each its own or all of them one."""

import pytest

from tests.cli.photo_card import sign_up
from tests.cli.terminal import Person, explains
from tests.media.made_scores import musicxml, page_photo
from tests.media.samples import flag, jpeg, png
from tests.server.process import ServerProcess


@pytest.fixture
def someone(ann: Person, server: ServerProcess) -> Person:
    """With four pages in a folder, and two scores of one page each."""
    sign_up(ann, server.url)
    folder = ann.home / "scans"
    folder.mkdir()
    for number in range(4):
        (folder / f"page-{number}.png").write_bytes(png(flag(40 + 20 * number, 60)))
    (ann.home / "Bach, Johann Sebastian - Air.jpg").write_bytes(jpeg(flag(40, 60)))
    (ann.home / "03 - Gavotte.png").write_bytes(png(flag(60, 40)))
    return ann


def titles(person: Person, *words: str) -> dict[str, tuple[str, int]]:
    listed = person.run("score", "list", *words, "--json").json["scores"]
    return {score["title"]: (score["composer"], score["pages"]) for score in listed}


@pytest.mark.slow
def test_files_become_scores_that_are_shared_and_exported(someone: Person) -> None:
    files = ("Bach, Johann Sebastian - Air.jpg", "03 - Gavotte.png")
    ran = someone.run("score", "add", *files)
    assert ran.code == 0, ran.err
    assert "Air: 1 page, id " in ran.out
    assert titles(someone) == {"Air": ("Johann Sebastian Bach", 1), "Gavotte": ("", 1)}
    assert titles(someone, "bach") == {"Air": ("Johann Sebastian Bach", 1)}

    ran = someone.run(
        "score", "add", "scans", "--title", "Ave verum", "--composer", "Mozart", "--tag", "choir", "--json"
    )
    (score,) = ran.json["scores"]
    assert (score["title"], score["tags"]) == ("Ave verum", ["choir"])
    assert [page["name"] for page in score["pages"]] == [f"page-{number}.png" for number in range(4)]
    assert titles(someone, "--tag", "choir") == {"Ave verum": ("Mozart", 4)}

    assert someone.run("score", "add", "03 - Gavotte.png", "--to", "ave verum", "--quiet").out == ""
    (someone.home / "photo.jpg").write_bytes(page_photo())
    (askew,) = someone.run("score", "add", "photo.jpg", "--straighten", "--json").json["scores"]
    assert askew["pages"][0]["item"]["photo_id"] is not None
    shown = someone.run("score", "show", "Ave verum")
    assert "Ave verum, Mozart, 5 pages" in shown.out
    assert "Only those with whom you share it can read it." in shown.out
    ran = someone.run("score", "share", "Ave verum", "bob@example.org", "--role", "marker")
    assert ran.out == "Ave verum: bob@example.org can read and mark it. They have no account yet.\n"
    assert explains(someone.run("score", "share", "Ave verum", "bob@example.org", "--role", "king"), 2, "A role is")
    assert someone.run("score", "snapshot", "Ave verum", "May", "--json").json["name"] == "May"
    assert "\n  Snapshot May: " in someone.run("score", "show", "Ave verum").out
    linked = someone.run("score", "link", "Ave verum", "--snapshot", "may", "--json").json
    assert linked["thing"]["name"] == "Ave verum (May)"
    assert "Anybody with this link can play from Ave verum:\nhttp" in someone.run("score", "link", "Ave verum").out
    assert explains(someone.run("score", "link", "Ave verum", "--part", "Alto"), 1, "has no part Alto")

    ran = someone.run("score", "export", "Ave verum", "--json")
    assert ran.json["saved_as"] == "Ave verum.pdf"
    assert (someone.home / "Ave verum.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert someone.run("score", "export", "Ave verum", "--without-marks").out.startswith("Ave verum: Ave verum (2).pdf")
    assert explains(someone.run("score", "export", "Ave verum", "--part", "Alto"), 1, "has no part Alto")
    assert someone.run("score", "show", score["score_id"], "--json").json["composer"] == "Mozart"


@pytest.mark.slow
def test_a_folder_becomes_scores_whose_names_are_seen_before_and_corrected_after(
    someone: Person, server: ServerProcess
) -> None:
    for place in ("Bach - Air/page 10.png", "Bach - Air/page 2.png", "Suite/1.png"):
        file = someone.home / "library" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(png(flag(40, 60)))
    added = ("library", "03 - Gavotte.png")
    planned = someone.run("score", "add", *added, "--dry-run", "--json").json["scores"]
    facts = [(each["title"], each["composer"], len(each["files"])) for each in planned]
    assert sorted(facts) == [("Air", "Bach", 2), ("Gavotte", "", 1), ("Suite", "", 1)]
    assert "Air, Bach: 2 pictures in library/Bach - Air\n" in someone.run("score", "add", *added, "--dry-run").out
    assert titles(someone) == {}
    someone.run("score", "add", *added, "--quiet")
    air = someone.run("score", "show", "Air", "--json").json
    assert [page["name"] for page in air["pages"]] == ["page 2.png", "page 10.png"]
    words = ("--title", "Air on the G string", "--composer", "", "--tag", "strings", "--access", "public")
    edited = someone.run("score", "edit", "Air", *words, "--json").json
    assert [edited[name] for name in ("title", "composer", "tags", "access")] == [
        "Air on the G string",
        "",
        ["strings"],
        "public",
    ]
    assert explains(someone.run("score", "edit", "Suite"), 2, "Say what to change")
    assert explains(someone.run("score", "edit", "Suite", "--access", "secret"), 2, "private or public")
    assert explains(someone.run("score", "add", "library", "--dry-run", "--title", "X"), 2, "--dry-run tells")

    someone.run("score", "snapshot", "Suite", "Before")
    someone.run("score", "add", "03 - Gavotte.png", "--to", "Suite", "--quiet")
    someone.run("score", "edit", "Suite", "--title", "Suite in D")
    compared = someone.run("score", "compare", "suite in d", "before")
    assert compared.out == "The title was Suite and is Suite in D.\nPage 2: added\n"
    (change,) = someone.run("score", "compare", "Suite in D", "Before", "--json").json["pages"]
    assert (change["change"], change["from_item"]) == ("added", None)
    restored = someone.run("score", "restore", "Suite in D", "Before")
    assert restored.out == "Suite is again as in Before. How it was before: Before “Before”.\n"
    assert someone.run("score", "compare", "Suite", "Before").out == "Nothing has changed.\n"

    saved = someone.run("score", "files", "Air on the G string", "--into", "out", "--json").json["files"]
    assert [each["use"] for each in saved] == ["shown on a page"] * 2
    assert (someone.home / "out" / "page 10.png").read_bytes() == png(flag(40, 60))
    token = someone.kept["sessions"][server.url]["access_token"]
    headers = {"authorization": f"Bearer {token}", "if-match": "*"}
    path = f"/api/v1/scores/{air['score_id']}/pages"
    kept = [{"page_id": 0, "item_id": air["pages"][0]["item"]["item_id"]}]
    assert server.client.put(path, headers=headers, json={"pages": kept}).is_success
    listed = someone.run("score", "files", air["score_id"]).out
    assert "page 2.png, " in listed and "page 10.png, " in listed and ": unused\n" in listed
    deleted = someone.run("score", "files", air["score_id"], "--delete-unused", "--json").json["files"]
    assert [(each["name"], each["is_deleted"]) for each in deleted] == [("page 2.png", False), ("page 10.png", True)]
    assert explains(someone.run("score", "delete", "Suite"), 2, "Give --yes")
    assert someone.run("score", "delete", "Suite", "--yes").out == "Suite is deleted.\n"


@pytest.mark.slow
def test_music_is_added_when_its_pages_are_made(someone: Person) -> None:
    (someone.home / "bwv1068.musicxml").write_bytes(musicxml())
    (someone.home / "half.pdf").write_bytes(b"%PDF-1.7 and nothing else" + b" " * 100)
    ran = someone.run("score", "add", "bwv1068.musicxml")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Air: 1 page, id ")
    assert titles(someone) == {"Air": ("Ann Bach", 1)}
    ran = someone.run("score", "export", "Air", "viola.pdf", "--transpose", "-2", "--instrument", "viola")
    assert ran.code == 0, ran.err
    assert (someone.home / "viola.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert explains(someone.run("score", "export", "Air", "--instrument", "Tuba"), 1, "It has: Flute, Viola.")
    ran = someone.run("score", "add", "half.pdf", "bwv1068.musicxml", "--title", "Both")
    assert ran.code == 1
    assert "Not added: half.pdf: " in ran.err
    assert ran.out.startswith("Both: 1 page, id ")
    ran = someone.run("score", "add", "half.pdf", "--json")
    assert (ran.code, ran.json) == (1, {"scores": []})
    assert sorted(titles(someone)) == ["Air", "Both"]


@pytest.mark.slow
def test_what_cannot_be_done_is_said(someone: Person) -> None:
    assert explains(someone.run("score", "show", "Nothing"), 1, "There is no score Nothing.")
    assert "missing.png" in someone.run("score", "add", "missing.png").err
    assert explains(someone.run("score", "add", "scans", "--to", "X", "--title", "Y"), 2, "--to adds pages")
    (someone.home / "notes.txt").write_bytes(b"no page")
    ran = someone.run("score", "add", "notes.txt", "--title", "Notes")
    assert (ran.code, ran.out) == (1, "")
    assert "Not added: notes.txt: It is no sheet music." in ran.err
    assert titles(someone) == {}
    someone.run("score", "add", "03 - Gavotte.png")
    someone.run("score", "add", "03 - Gavotte.png", "--title", "gavotte")
    assert explains(someone.run("score", "show", "Gavotte"), 1, "2 scores are called Gavotte.")


@pytest.mark.slow
def test_a_set_list_is_made_put_in_order_and_exported(someone: Person) -> None:
    someone.run("score", "add", "Bach, Johann Sebastian - Air.jpg", "03 - Gavotte.png", "--quiet")
    someone.run("score", "add", "scans", "--title", "Suite", "--quiet")
    made = someone.run("setlist", "create", "Concert", "air", "Gavotte", "--json").json
    assert [entry["title"] for entry in made["entries"]] == ["Air", "Gavotte"]
    added = someone.run("setlist", "add", "concert", "Suite", "--at", "1", "--pages", "3-2,4", "--notes", "No repeats")
    assert "  1. Suite, 3 of 4 pages\n     No repeats\n  2. Air, Johann Sebastian Bach\n  3. Gavotte\n" in added.out
    moved = someone.run("setlist", "move", "Concert", "3", "1", "--json").json
    assert [entry["title"] for entry in moved["entries"]] == ["Gavotte", "Suite", "Air"]
    assert explains(someone.run("setlist", "move", "Concert", "9", "1"), 2, "from 1 to 3")
    assert explains(someone.run("setlist", "add", "Concert", "Suite", "--pages", "5"), 2, "pages 1 to 4")
    assert explains(someone.run("setlist", "show", "Recital"), 1, "There is no set list Recital.")
    removed = someone.run("setlist", "remove", "Concert", "1", "--json").json
    assert [entry["title"] for entry in removed["entries"]] == ["Suite", "Air"]
    assert someone.run("setlist", "rename", "Concert", "Evening", "--json").json["name"] == "Evening"
    assert (
        someone.run("setlist", "share", "Evening", "bob@example.org").out == "Evening: bob@example.org can read it.\n"
    )
    exported = someone.run("setlist", "export", "Evening", "--json").json
    assert (someone.home / exported["saved_as"]).read_bytes().startswith(b"%PDF")
    assert "Evening" in someone.run("setlist", "list").out
    assert someone.run("setlist", "delete", "Evening").out == "Evening is deleted.\n"
    assert someone.run("setlist", "list", "--json").json == {"set_lists": []}
