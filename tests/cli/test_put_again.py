"""`satchel put` run again: skips, replaces and mirrors, and says how many of each."""

import os
from pathlib import Path

import pytest

from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.cli.engine.resources.shelf_paths import Places, changed
from satchel.cli.put_get.put_mirror import Surplus, move_to_bin
from tests.cli.terminal import Person, explains
from tests.cli.test_put_get import listed, objects, sign_up
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


@pytest.fixture
def tree(ann: Person, server: ServerProcess) -> Path:
    """A folder that is on Ann's shelf."""
    sign_up(ann, server.url)
    top = ann.home / "tree"
    (top / "sub").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "sub/c.txt", "sub/README"):
        (top / name).write_text(name)
    assert last_line(ann, "put", "tree") == "4 new, 0 replaced, 0 unchanged."
    return top


def last_line(person: Person, *arguments: str) -> str:
    ran = person.run(*arguments)
    assert ran.code == 0, ran
    return ran.out.splitlines()[-1]


def test_again_means_the_same(ann: Person, tree: Path) -> None:
    assert last_line(ann, "put", "tree") == "0 new, 0 replaced, 4 unchanged."
    (tree / "a.txt").write_text("changed")
    (tree / "new.txt").write_text("new")
    os.utime(tree / "b.txt", ns=(10**18, 10**18))
    (tree / "b.txt").chmod(0o755)
    planned = ann.run("put", "tree", "--dry-run").out.splitlines()
    assert planned == [
        "would send tree/new.txt",
        "would replace tree/a.txt",
        "would update tree/b.txt",
        "2 unchanged. Nothing was done.",
    ]
    assert last_line(ann, "put", "tree") == "1 new, 1 replaced, 1 updated (time or executable bit), 2 unchanged."
    leave = objects(ann.run("put", "tree", "--dry-run", "--json").out)
    assert leave == [{"result": "would leave alone", "unchanged": 5}]
    # Machines hear the counts also if there is nothing to send.
    assert ann.run("put", "tree", "--json").json == {
        "result": "summary",
        "new": 0,
        "replaced": 0,
        "updated": 0,
        "unchanged": 5,
        "binned": 0,
    }
    assert listed(ann, "tree") == ["sub", "a.txt", "b.txt", "new.txt"]
    assert ann.run("get", "tree", "-o", "back").code == 0
    assert (ann.home / "back/tree/a.txt").read_text() == "changed"
    other = (ann.home / "back/tree/b.txt").stat()
    assert (other.st_mtime_ns, other.st_mode & 0o100) == (10**18, 0o100)
    (version,) = ann.run("versions", "tree/a.txt", "--json").json["versions"]
    assert ann.run("versions", "tree/a.txt", "--get", version["version_id"]).code == 0
    assert (ann.home / "a.txt").read_text() == "a.txt"
    assert ann.run("versions", "tree/a.txt", "--restore", version["version_id"]).code == 0
    assert last_line(ann, "put", "tree") == "0 new, 1 replaced, 4 unchanged."
    assert explains(ann.run("versions", "tree/a.txt", "--restore", version["version_id"]), 1, "no version")


def test_a_mirror_bins_what_is_gone_and_nothing_else(ann: Person, tree: Path) -> None:
    (tree / "b.txt").unlink()
    (tree / "sub/README").rename(tree / "sub/readme")
    (tree / "link").symlink_to("a.txt")
    assert last_line(ann, "put", "tree", "--mirror") == "1 new, 0 replaced, 2 unchanged, 2 moved to the bin."
    assert (listed(ann, "tree"), listed(ann, "tree/sub")) == (["sub", "a.txt"], ["c.txt", "readme"])
    assert last_line(ann, "put", "tree", "--mirror") == "0 new, 0 replaced, 3 unchanged."


def test_a_mirror_of_nothing_or_of_what_cannot_be_read_stops(ann: Person, tree: Path) -> None:
    (ann.home / "other").mkdir()
    assert explains(ann.run("put", "other", "--mirror"), 1, "no file")
    assert explains(ann.run("put", "missing", "--mirror"), 1, "missing")
    assert explains(ann.run("put", "tree/a.txt", "--mirror"), 1, "folder")
    for file in [path for path in tree.rglob("*") if path.is_file()]:
        file.unlink()
    assert explains(ann.run("put", "tree", "--mirror"), 1, "no file")
    assert listed(ann, "tree") == ["sub", "a.txt", "b.txt"]


def test_what_was_changed_on_the_shelf_meanwhile_stays(
    ann: Person, tree: Path, server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(server.url, CredentialsFile(ann.credentials)) as client:
        seen = [
            Surplus(entry, f"tree/{entry.name}") for entry in Places(client).entries(Places(client).wanted("tree").id)
        ]
        _, a, b = seen
        client.call("PATCH", f"/shelf/files/{a.entry.id}", object, {"name": "renamed.txt"})
        assert not changed(client, a.entry, "PATCH", {"executable": True})
        assert move_to_bin(client, [a, b]) == 1
    assert "tree/a.txt was changed on the shelf meanwhile. It stays there." in capsys.readouterr().err
    assert listed(ann, "tree") == ["sub", "renamed.txt"]


def test_two_sources_of_one_place_are_refused_before_a_byte(ann: Person, tree: Path) -> None:
    (ann.home / "one").mkdir()
    (ann.home / "one/a.txt").write_text("other")
    assert explains(ann.run("put", "tree/a.txt", "one/a.txt"), 1, "same place")
    assert listed(ann) == ["tree"]
