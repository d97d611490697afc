"""`satchel doctor`: what it says of good and of broken installations, and that it leaves nothing behind."""

import socket
from typing import Any

import pytest
from redis import Redis

from satchel.config import load_settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_objects, open_tables
from satchel.tables import SELF_TEST
from tests.cli.terminal import Person, Ran
from tests.server.process import serving
from tests.services import S3Server, free_port

PARTS = ["settings", "data folder", "secret", "table", "ephemeral", "objects", "set-up", "port"]
SECRET = "x" * 40


def examine(person: Person, *options: str, **environment: str) -> Ran:
    return person.run("doctor", "--port", str(free_port()), "--json", *options, **environment)


def wrong(ran: Ran) -> dict[str, str]:
    """What was found to be wrong, with the remedy, by part and step."""
    assert ran.err == "", ran.err
    report: Any = ran.json
    assert ran.code == (0 if report["ok"] else 1)
    return {
        f"{finding['part']}: {finding['tried']}": f"{finding['detail']} {finding['fix']}"
        for finding in report["findings"]
        if finding["outcome"] == "bad"
    }


def tried(ran: Ran, outcome: str = "good") -> list[str]:
    return [f"{each['part']}: {each['tried']}" for each in ran.json["findings"] if each["outcome"] == outcome]


def test_where_no_server_has_run_everything_is_tried_and_nothing_is_left(ann: Person) -> None:
    ran = examine(ann)
    assert wrong(ran) == {}
    assert list(dict.fromkeys(finding["part"] for finding in ran.json["findings"])) == PARTS
    assert {"table: see the write in the change stream", "table: let an item expire"} <= set(tried(ran))
    assert {"ephemeral: publish to a subscriber", "objects: get a range of it"} <= set(tried(ran))
    assert list(ann.home.iterdir()) == []


@pytest.mark.slow
def test_people_get_a_mark_a_line_and_a_sum(ann: Person) -> None:
    ran = ann.run("doctor", "--port", str(free_port()))
    assert ran.code == 0
    assert "table\n  ✓ open it (sqlite://" in ran.out
    assert ran.out.endswith("checks passed.\n")
    ran = ann.run("doctor", "--host", "192.0.2.1")
    assert ran.code == 1
    assert (
        "port\n  ✗ listen, or find a Satchel listening\n      192.0.2.1 is not an address of this machine." in ran.out
    )
    assert "1 of 33 checks failed." in ran.out


@pytest.mark.slow
def test_a_running_server_is_recognised_and_its_data_stays_as_it_is(ann: Person) -> None:
    data = ann.home / "data"
    with serving(data) as server:
        port = server.url.rpartition(":")[2]
        before = sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_dir())
        ran = ann.run("doctor", "--json", "--port", port)
        assert wrong(ran) == {}
        assert ran.json["findings"][-1]["detail"] == f"a Satchel answers at {server.url}"
        after = sorted(str(path.relative_to(data)) for path in data.rglob("*") if path.is_dir())
        assert before == [folder for folder in after if folder in before]
        assert not [path for path in data.rglob("*") if "doctor" in path.name]


def test_a_setting_that_cannot_be_used_is_the_only_finding(ann: Person) -> None:
    ran = ann.run("doctor", "--json", SATCHEL_PORT="many")
    assert list(wrong(ran)) == ["settings: read them"]
    assert "SATCHEL_PORT" in wrong(ran)["settings: read them"]


@pytest.mark.slow
def test_a_data_folder_that_cannot_be_made_is_found_by_all_that_need_it(ann: Person) -> None:
    (ann.home / "file").write_text("in the way")
    ran = examine(ann, "--data", str(ann.home / "file" / "data"))
    found = wrong(ran)
    assert set(found) == {
        "data folder: write a file and flush it",
        "secret: sign and verify",
        "table: open it",
        "objects: open it",
    }
    assert "--data" in found["data folder: write a file and flush it"]
    assert "table: write an item" in tried(ran, "untried")
    assert "ephemeral: write a value" in tried(ran)
    assert [path.name for path in ann.home.iterdir()] == ["file"]


@pytest.mark.slow
def test_what_others_could_read_is_found_with_the_remedy(ann: Person) -> None:
    data = ann.home / "data"
    with serving(data):
        pass
    data.chmod(0o755)
    (data / "secret").chmod(0o644)
    found = wrong(examine(ann))
    assert f"chmod 700 {data}" in found["data folder: keep it from other users"]
    assert "chmod 600" in found["secret: keep it from other users"]


@pytest.mark.slow
def test_a_damaged_secret_is_found(ann: Person) -> None:
    (ann.home / "data").mkdir(mode=0o700)
    (ann.home / "data" / "secret").write_text("half")
    found = wrong(examine(ann))
    assert list(found) == ["secret: sign and verify"]
    assert "secret" in found["secret: sign and verify"]


@pytest.mark.slow
def test_a_port_that_another_program_has_is_found(ann: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        found = wrong(ann.run("doctor", "--json", "--port", str(other.getsockname()[1])))
    assert "Another program" in found["port: listen, or find a Satchel listening"]
    assert "--port" in found["port: listen, or find a Satchel listening"]


@pytest.mark.slow
def test_stores_that_cannot_be_reached_are_found_each_on_its_own(ann: Person) -> None:
    port = free_port()
    ran = examine(
        ann,
        SATCHEL_TABLE=f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{port}",
        SATCHEL_EPHEMERAL=f"redis://ann:hush@127.0.0.1:{port}/0",
        SATCHEL_OBJECTS=f"s3://bucket?endpoint=http://127.0.0.1:{port}",
        AWS_ACCESS_KEY_ID="key",
        AWS_SECRET_ACCESS_KEY="secret",
    )
    found = wrong(ran)
    assert set(found) == {"secret: sign and verify", "table: open it", "ephemeral: open it", "objects: open it"}
    assert "SATCHEL_SECRET" in found["secret: sign and verify"]
    assert "SATCHEL_TABLE" in found["table: open it"]
    assert "SATCHEL_EPHEMERAL" in found["ephemeral: open it"]
    assert "SATCHEL_OBJECTS" in found["objects: open it"]
    assert "hush" not in ran.out
    assert "port: listen, or find a Satchel listening" in tried(ran)


async def test_on_dynamodb_redis_and_s3_everything_is_tried_and_nothing_is_left(
    ann: Person, dynamodb_endpoint: str, redis_url: str, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb_endpoint}",
        "SATCHEL_TABLE_PREFIX": "cli-doctor-",
        "SATCHEL_MOST_WRITES": "10",
        "SATCHEL_EPHEMERAL": redis_url,
        "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
        "SATCHEL_SECRET": SECRET,
        **s3.environment(),
    }
    ran = examine(ann, **settings)
    assert list(wrong(ran)) == ["table: find all tables"]
    assert "satchel tables create" in wrong(ran)["table: find all tables"]
    ann.run("tables", "create", **settings)
    ran = examine(ann, **settings)
    assert wrong(ran) == {}
    assert tried(ran, "untried") == []
    assert "objects: sign a link to it and follow the link" in tried(ran)
    assert list(ann.home.iterdir()) == []
    for name, key in s3.environment().items():
        monkeypatch.setenv(name, key)
    await nothing_is_left(settings)


async def nothing_is_left(environment: dict[str, str]) -> None:
    settings = load_settings({}, environment)
    tables = await open_tables(settings, system_clock)
    left: set[str] = set()
    for shard in await tables.shards(SELF_TEST):
        for change in (await tables.changes(SELF_TEST, shard.id, None)).changes:
            name = change.key["probe"]
            left = left - {name} if change.new is None else left | {name}
    await tables.close()
    assert left == set()
    objects = await open_objects(settings, system_clock, Signer(SECRET.encode()))
    assert (await objects.list("doctor/")).objects == []
    await objects.close()
    with Redis.from_url(environment["SATCHEL_EPHEMERAL"]) as redis:  # pyright: ignore[reportUnknownMemberType]
        assert list(redis.scan_iter("*doctor*")) == []  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType]


@pytest.mark.slow
def test_wrong_keys_and_a_wrong_bucket_are_told_apart(ann: Person, s3: S3Server) -> None:
    bucket = f"s3://{s3.bucket}?endpoint={s3.endpoint}"
    keys = {**s3.environment(), "AWS_SECRET_ACCESS_KEY": "guessed"}
    assert "AWS_SECRET_ACCESS_KEY" in wrong(examine(ann, SATCHEL_OBJECTS=bucket, **keys))["objects: open it"]
    other = f"s3://absent?endpoint={s3.endpoint}"
    found = wrong(examine(ann, SATCHEL_OBJECTS=other, **s3.environment()))
    assert "absent" in found["objects: open it"]


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_traceback_and_cleans_up(ann: Person) -> None:
    absent = f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{free_port()}"
    ran = ann.run_in_terminal("doctor", SATCHEL_TABLE=absent, answers=[("secret", "\x03")])
    assert ran.code == 130
    assert "Traceback" not in ran.out
    assert list(ann.home.iterdir()) == []
