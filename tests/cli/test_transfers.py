"""Handing files to people by e-mail from a terminal, and taking what one was handed."""

import random
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.cli.engine.resources.transfer_find import with_all_files
from tests.application import PASSWORD
from tests.cli.terminal import Person, explains
from tests.cli.test_account import let_the_access_token_expire
from tests.cli.test_put_get import contents, fill, listed, objects
from tests.cli.watcher import watching
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Pair:
    """Two people with accounts on one server."""

    ann: Person
    bob: Person
    anns_address: str
    bobs_address: str


@pytest.fixture
def pair(ann: Person, bob: Person, server: ServerProcess) -> Pair:
    number = random.randrange(10**12)
    for person, name in ((ann, "Ann"), (bob, "Bob")):
        signup = ("signup", "--server", server.url, "--email", f"{name}{number}@example.org", "--name", name)
        assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    return Pair(ann, bob, f"ann{number}@example.org", f"bob{number}@example.org")


def sent(pair: Pair, *arguments: str) -> Any:
    """What a `put --json` handed over."""
    ran = pair.ann.run("put", *arguments, "--to", pair.bobs_address, "--json")
    assert ran.code == 0, ran
    handed = [each for each in objects(ran.out) if each["result"] == "handed over"]
    return handed[0]["transfer"]


def sent_and_waited_for(pair: Pair, *arguments: str) -> str:
    """What a `put --wait` said by the time at which Bob had fetched everything into `here`."""
    put = pair.ann.start("put", *arguments, "--to", pair.bobs_address, "--wait")
    while not (transfers := pair.bob.run("transfers", "--json").json["transfers"]):
        assert put.poll() is None, put.communicate()
    ran = pair.bob.run("get", "--transfer", transfers[0]["transfer_id"], "--into", "here")
    assert ran.code == 0, ran
    out, err = put.communicate(timeout=120)
    assert put.returncode == 0, err
    return out


def test_a_folder_handed_over_arrives_with_its_structure_and_its_sender_sees_it_verified(pair: Pair) -> None:
    fill(pair.ann.home / "band/violin.pdf", 5000)
    fill(pair.ann.home / "band/old/viola.pdf", 7000)
    fill(pair.ann.home / "notes.txt", 10)
    out = sent_and_waited_for(pair, "band", "notes.txt", "--note", "for Sunday")
    assert f"Sent to {pair.bobs_address}: transfer " in out
    assert "Bob: on shelf at 20" in out
    assert "Bob: verified at 20" in out.splitlines()[-1]
    (transfer,) = pair.bob.run("transfers", "--json").json["transfers"]
    assert transfer["note"] == "for Sunday"
    assert sorted(listed(pair.bob, "Received")) == ["band", "notes.txt"]
    assert contents(pair.bob.home / "here") == {
        "band/violin.pdf": (pair.ann.home / "band/violin.pdf").read_bytes(),
        "band/old/viola.pdf": (pair.ann.home / "band/old/viola.pdf").read_bytes(),
        "notes.txt": (pair.ann.home / "notes.txt").read_bytes(),
    }


def test_every_file_that_is_called_otherwise_is_said_and_so_is_what_a_transfer_lacks(pair: Pair) -> None:
    for path in (".git/hooks/run", ".env", "plain.txt"):
        fill(pair.ann.home / "band" / path, 10)
    (pair.ann.home / "band/empty").mkdir()
    handed = pair.ann.run("put", "band", "--to", pair.bobs_address)
    assert handed.err.splitlines() == ["Not in the transfer: band/empty is an empty folder."]
    transfer_id = pair.bob.run("transfers", "--json").json["transfers"][0]["transfer_id"]
    got = pair.bob.run("get", "--transfer", transfer_id)
    assert sorted(got.err.splitlines()) == [
        "Renamed: band/.env was fetched as band/_env.",
        "Renamed: band/.git/hooks/run was fetched as band/_git/hooks/run.",
    ]


def test_the_same_file_handed_over_twice_has_its_own_name_both_times(pair: Pair) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    assert [file["name"] for file in sent(pair, "notes.txt")["files"]] == ["notes.txt"]
    assert [file["name"] for file in sent(pair, "notes.txt")["files"]] == ["notes.txt"]
    assert len(listed(pair.ann, "Sent")) == 2


def test_both_see_it_in_their_history_and_can_name_it_by_the_end_of_its_id(pair: Pair) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    transfer_id = sent(pair, "notes.txt")["transfer_id"]
    short = transfer_id[-8:]
    (line,) = pair.ann.run("transfers", "--sent").out.splitlines()
    assert "to Bob" in line
    assert "notes.txt, 10 B" in line
    assert line.endswith(short)
    (line,) = pair.bob.run("transfers").out.splitlines()
    assert "from Ann" in line
    assert pair.bob.run("transfers", "--sent").out == ""
    assert pair.ann.run("transfers", "--received", "--json").json == {"transfers": []}
    shown = pair.ann.run("transfers", "show", short)
    assert "notes.txt" in shown.out
    assert "Bob  on shelf" in shown.out
    assert pair.ann.run("transfers", "show", short, "--json").json["transfer_id"] == transfer_id
    assert explains(pair.bob.run("transfers", "show", "zzzzzzzz"), 1, "zzzzzzzz", "satchel transfers")
    assert explains(pair.bob.run("get", "--transfer", "0" * 26), 1)


def test_what_was_handed_over_can_be_handed_over_again(pair: Pair) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    first = sent(pair, "notes.txt")["transfer_id"]
    ran = pair.ann.run("transfers", "resend", first[-8:])
    assert "Sent again: notes.txt, 10 B." in ran.out
    assert len(pair.bob.run("transfers", "--json").json["transfers"]) == 2
    assert pair.ann.run("transfers", "withdraw", first).code == 0
    assert listed(pair.bob, "Received") == ["notes (1).txt"]
    assert pair.bob.run("get", "Received/notes (1).txt").code == 0
    second = pair.ann.run("transfers", "--json").json["transfers"][0]["transfer_id"]
    assert explains(pair.ann.run("transfers", "withdraw", second), 1)


def test_an_address_that_nobody_has_is_refused_before_anything_is_sent(pair: Pair) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    for address in ("nobody-has-this@example.org", "no address", pair.anns_address):
        ran = pair.ann.run("put", "notes.txt", "--to", address)
        assert (ran.code, ran.out) == (1, ""), ran
        assert "Error: " in ran.err
    assert listed(pair.ann) == []
    assert pair.ann.run("put", "notes.txt", "--to", pair.bobs_address).code == 0
    assert len(listed(pair.ann, "Sent")) == 1


def test_what_cannot_be_meant_is_said_before_anything_is_sent(pair: Pair) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    assert explains(pair.ann.run("put", "notes.txt", "--to", "b@example.org", "--room", "ABCDE"), 2, "--to", "--room")
    assert explains(pair.ann.run("put", "notes.txt", "--note", "hello"), 2, "--to", "--room")
    assert explains(pair.ann.run("put", "notes.txt", "--for", "Bob"), 2, "--room")
    assert explains(pair.ann.run("get"), 2, "--transfer")
    assert explains(pair.ann.run("transfers", "--limit", "many"), 2, "--limit")
    for number in range(5001):
        (pair.ann.home / f"many/{number}").parent.mkdir(exist_ok=True)
        (pair.ann.home / f"many/{number}").touch()
    assert explains(pair.ann.run("put", "many", "--to", pair.bobs_address), 2, "5,000", "5,001")
    assert listed(pair.ann) == []


def test_the_wait_for_a_receipt_renews_a_token_that_ran_out(pair: Pair, server: ServerProcess) -> None:
    fill(pair.ann.home / "notes.txt", 10)
    let_the_access_token_expire(pair.ann, server)
    last = msgspec.json.decode(sent_and_waited_for(pair, "notes.txt", "--json").splitlines()[-1])
    assert last["result"] == "receipt"
    assert last["receipt"]["state"] == "verified"


def test_who_watches_a_room_hears_of_what_came_by_e_mail_and_it_still_waits_to_be_looked_at(pair: Pair) -> None:
    code = pair.bob.run("room", "open", "--json").json["code"]
    fill(pair.ann.home / "letter.txt", 10)
    with watching(pair.bob, code, "--save", "saved") as watcher:
        watcher.sees("room")
        transfer = sent(pair, "letter.txt")
        watcher.sees("offer")
        assert pair.bob.run("room", "say", "done").code == 0
        watcher.sees("chat")
    assert not (pair.bob.home / "saved/letter.txt").exists()
    assert pair.ann.run("transfers", "withdraw", transfer["transfer_id"]).code == 0


def test_a_transfer_of_many_files_is_read_in_pages(pair: Pair, server: ServerProcess) -> None:
    names = [f"{number}.txt" for number in range(5)]
    for name in names:
        fill(pair.ann.home / name, 10)
    transfer = sent(pair, *names)
    with Client(server.url, CredentialsFile(pair.bob.credentials)) as client:
        page = client.call("GET", f"/transfers/{transfer['transfer_id']}?limit=2", TransferView)
        assert (len(page.files), page.cursor) == (2, "2")
        whole = with_all_files(client, page)
    assert ([file.name for file in whole.files], whole.cursor) == (names, None)
