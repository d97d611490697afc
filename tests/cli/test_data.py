"""`satchel data`: what its verbs print, and when they fail."""

from pathlib import Path

import pytest

from tests.cli.terminal import Person, explains


@pytest.mark.slow
def test_a_backup_is_made_listed_verified_and_restored(ann: Person, tmp_path: Path) -> None:
    folder, new = str(tmp_path / "backups"), str(tmp_path / "new")
    assert ann.run("tables", "create").code == 0
    made = ann.run("data", "backup", folder, "--json")
    assert (made.code, made.json["damages"], made.json["pruned"]) == (0, [], [])
    name = made.json["backup"]["name"]
    assert [each["name"] for each in ann.run("data", "backups", folder, "--json").json["backups"]] == [name]
    assert name in ann.run("data", "backups", folder).out
    assert "as they were written" in ann.run("data", "verify").out
    assert "as they were written" in ann.run("data", "verify", folder).out
    back = ann.run("data", "restore", folder, "--data", new)
    assert back.code == 0, back
    assert f"satchel serve --data {new}" in back.out
    assert ann.run("tables", "--json", "--data", new).json == ann.run("tables", "--json").json | {
        "store": f"sqlite://{new}/satchel.db"
    }
    (path,) = (path for path in Path(folder).glob("files/*/*") if path.read_bytes().startswith(b"SQLite"))
    path.write_bytes(path.read_bytes()[:-1])
    rotten = ann.run("data", "verify", folder)
    assert (rotten.code, "not those that were copied" in rotten.out) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("backups", "missing"), "There are no backups"),
        (("restore", "missing"), "There are no backups"),
        (("backup", "folder", "--keep", "0"), "--keep"),
        (("backup", "folder"), "There is nothing to back up"),
        (("verify", "s3://"), "is not a place for backups"),
        (("restore", "folder", "--objects", "s3://bucket"), "A backup is restored to one machine"),
        (("verify", "folder", "--repair-from", "other"), "are not repaired"),
    ],
)
def test_what_cannot_be_done_is_explained_and_makes_nothing(ann: Person, words: tuple[str, ...], sentence: str) -> None:
    code = 1 if "missing" in words else 2
    assert explains(ann.run("data", *words), code, sentence)
    assert list(ann.home.iterdir()) == []


@pytest.mark.slow
def test_everything_is_copied_to_other_stores(ann: Person, tmp_path: Path) -> None:
    file, new = tmp_path / "new.toml", tmp_path / "new"
    file.write_text(f'data = "{new}"\n')
    assert explains(ann.run("data", "copy", str(file)), 2, "There is nothing to copy")
    assert ann.run("tables", "create").code == 0
    first = ann.run("data", "copy", str(file), "--json")
    assert (first.code, first.json["different"], first.json["finished"]) == (0, [], False)
    refused = ann.run("serve", "--data", str(new))
    assert (refused.code, "a copy that is not finished" in refused.err) == (1, True)
    assert "The copy is finished" in ann.run("data", "copy", str(file), "--finish").out
    assert ann.run("doctor", "--data", str(new), "--port", "0").code == 0
