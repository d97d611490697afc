"""`satchel tables` on SQLite and on DynamoDB."""

from pathlib import Path

import pytest

from satchel.tables import TABLES
from tests.cli.terminal import Person, Ran, explains
from tests.services import free_port


def names_and_gaps(ran: Ran) -> list[tuple[str, bool]]:
    assert ran.code == 0, ran
    assert ran.err == ""
    return [(table["name"], bool(table["missing"])) for table in ran.json["tables"]]


def test_looking_shows_every_declared_table_and_makes_nothing(ann: Person) -> None:
    expected = [(table.name, True) for table in TABLES]
    assert names_and_gaps(ann.run("tables", "--json")) == expected
    assert names_and_gaps(ann.run("tables", "show", "--json")) == expected
    assert list(ann.home.iterdir()) == []


@pytest.mark.slow
def test_creating_makes_what_is_missing_once(ann: Person) -> None:
    first, second = ann.run("tables", "create"), ann.run("tables", "create")
    assert "made table catalog" in first.out
    assert second.out.startswith("Nothing to make")
    assert ann.run("tables", "create", "--json").json["made"] == []
    assert not any(missing for _, missing in names_and_gaps(ann.run("tables", "--json")))


@pytest.mark.slow
def test_people_see_keys_indexes_expiry_and_stream(ann: Person) -> None:
    shown = " ".join(ann.run("tables").out.split())
    assert "UserTransferRecord key PK, SK index ByEmail: email; with password, userName" in shown
    assert "index RefreshTokenExpiration: SK, AbsoluteExpiryTime; keys only" in shown
    assert "SelfTest key probe expiry at expiresAt stream every change, in order missing table SelfTest" in shown
    assert "7 of 7 tables are missing" in shown
    ann.run("tables", "create")
    assert "All 7 tables are there." in ann.run("tables").out


@pytest.mark.slow
def test_a_prefix_keeps_two_installations_apart_in_one_file(ann: Person, tmp_path: Path) -> None:
    shared = ("--table", f"sqlite://{tmp_path / 'shared.db'}")
    ann.run("tables", "create", *shared, "--table-prefix", "one-")
    one, two = (ann.run("tables", "--json", *shared, "--table-prefix", f"{prefix}-") for prefix in ("one", "two"))
    assert names_and_gaps(one)[0] == ("one-UserTransferRecord", False)
    assert names_and_gaps(two)[0] == ("two-UserTransferRecord", True)


def test_on_dynamodb_they_are_shown_created_and_shown_again(ann: Person, dynamodb_endpoint: str) -> None:
    table = f"dynamodb://us-east-1?endpoint={dynamodb_endpoint}"
    settings = {"SATCHEL_TABLE": table, "SATCHEL_TABLE_PREFIX": "cli-tables-"}
    assert all(missing for _, missing in names_and_gaps(ann.run("tables", "--json", **settings)))
    made = ann.run("tables", "create", **settings)
    assert made.code == 0, made.err
    assert "made table catalog" in made.out
    assert "made index" not in made.out
    after = names_and_gaps(ann.run("tables", "--json", **settings))
    assert after == [(f"cli-tables-{table.name}", False) for table in TABLES]
    assert list(ann.home.iterdir()) == []


@pytest.mark.slow
def test_a_table_store_that_cannot_be_reached_or_made_is_one_sentence(ann: Person, tmp_path: Path) -> None:
    absent = f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{free_port()}"
    assert explains(ann.run("tables", SATCHEL_TABLE=absent), 1, "cannot be reached")
    (tmp_path / "file").write_text("in the way")
    assert explains(ann.run("tables", "create", "--data", str(tmp_path / "file" / "data")), 1, "--data")
    assert explains(ann.run("tables", "create", "--table", f"sqlite://{tmp_path / 'file' / 'x.db'}"), 1, "x.db")


@pytest.mark.slow
def test_a_file_that_is_no_database_is_one_sentence(ann: Person, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("These are notes, and nothing else. " * 100)
    assert explains(ann.run("tables", "--table", f"sqlite://{tmp_path / 'notes.db'}"), 1, "notes.db")


def test_an_unknown_action_is_told_from_the_known_ones(ann: Person) -> None:
    assert explains(ann.run("tables", "drop"), 2, "satchel tables show", "satchel tables create")
