"""`satchel send`: files, folders, texts and pipes handed to whoever has code or link, until they have it all."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.crypto.session_keys import CHUNK, Have
from satchel.cli.drop.receiver.folder_unpack import frames
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.cli.engine.http.failures import Refused
from tests.cli.drop.receiver import knock, receiving
from tests.cli.drop.sender import sending
from tests.cli.terminal import Person, explains
from tests.cli.test_put_get import fill
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


def digest_of(empty: Digest, content: bytes, chunks: int) -> Digest:
    digest = empty.copy()
    for number in range(chunks):
        digest.add(content[number * CHUNK : (number + 1) * CHUNK])
    return digest


def have(empty: Digest, content: bytes, chunks: int) -> Have:
    return Have.of(CHUNK, chunks, digest_of(empty, content, chunks).value)


@pytest.fixture
def stranger(server: ServerProcess, tmp_path: Path) -> Iterator[Client]:
    with Client(server.url, CredentialsFile(tmp_path / "credentials.json")) as client:
        yield client


def test_a_file_is_handed_over_and_verified_and_then_it_ends(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    content = fill(ann.home / "film.mp4", 3 * 1024**2 + 5).read_bytes()
    with sending(ann, server.url, "film.mp4", "--name", "Ann") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            assert [each.name for each in bob.session.state.members.values()] == ["Ann", "Bob"]
            description = bob.files["film.mp4"].description
            assert (description.kind, description.size, description.type) == ("file", len(content), "video/mp4")
            assert bob.takes("film.mp4") == content
        code, last = sender.ends()
    assert (code, last["reason"], last["receivers"]) == (0, "received", 1)
    told = [each["type"] for each in sender.seen]
    assert told == ["opened", "joined", "requested", "begun", "received", "ended"]
    assert ann.kept["server"] == server.url


def test_an_empty_file_a_text_and_several_files_go_together(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    (ann.home / "empty").touch()
    (ann.home / "notes.txt").write_text("for Sunday")
    with sending(ann, server.url, "empty", "notes.txt", "--text", "hello, 世界") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            assert bob.takes("empty") == b""
            assert bob.files["text"].description.kind == "text"
            assert bob.takes("text").decode() == "hello, 世界"
            assert bob.takes("notes.txt") == b"for Sunday"
        assert sender.ends()[0] == 0


def test_a_folder_is_one_content_of_files_in_order_without_links(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    (ann.home / "secret").write_text("not to be sent")
    fill(ann.home / "trip/b.jpg", CHUNK)
    fill(ann.home / "trip/a/z.jpg", 10)
    (ann.home / "trip/c").mkdir()
    (ann.home / "trip/away").symlink_to(ann.home / "secret")
    with sending(ann, server.url, "trip") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            description = bob.files["trip"].description
            assert (description.kind, description.files, description.size) == ("folder", 2, CHUNK + 10)
            content = bob.takes("trip")
        assert sender.ends()[0] == 0
        assert sender.process.stderr is not None
        assert "Left out: trip/away is a symbolic link." in sender.process.stderr.read()
    found: list[tuple[str, str, bytes]] = []
    while content:
        frame, header = next(frames(content))
        body, content = content[len(frame) : len(frame) + header.size], content[len(frame) + header.size :]
        found.append((header.kind, header.path, body))
    assert [each[:2] for each in found] == [("file", "b.jpg"), ("folder", "a"), ("file", "a/z.jpg"), ("folder", "c")]
    assert found[0][2] == (ann.home / "trip/b.jpg").read_bytes()
    assert found[2][2] == (ann.home / "trip/a/z.jpg").read_bytes()


def test_a_pipe_is_announced_at_once_and_followed_while_it_grows(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    first, rest = os.urandom(2 * CHUNK), os.urandom(CHUNK + 48)
    with sending(ann, server.url, "-", "--as", "backup.tar") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            assert bob.files["backup.tar"].description.size is None
            taking = bob.asks("backup.tar")
            assert taking.accepted().length is None
            sender.is_piped(first)
            chunks = taking.chunks()
            assert next(chunks) == first[:CHUNK]
            sender.is_piped(rest)
            sender.has_no_more_to_come()
            assert b"".join(chunks) == (first + rest)[CHUNK:]
            taking.confirms()
        assert sender.ends()[0] == 0


def test_who_has_the_beginning_goes_on_from_there_and_who_has_another_begins_anew(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    content = fill(ann.home / "film", 5 * CHUNK + 9).read_bytes()
    with sending(ann, server.url, "film", "--keep") as sender, receiving(tmp_path, sender.opened) as bob:
        other, empty = os.urandom(3 * CHUNK), bob.empty_digest("film")
        assert b"".join(bob.asks("film", have(empty, other, 3)).chunks()) == content
        for chunks in (3, 5, 1):  # read again, known from before, and in between
            taking = bob.asks("film", have(empty, content, chunks))
            assert taking.accepted(digest_of(empty, content, chunks)).first == chunks
            assert b"".join(taking.chunks()) == content[chunks * CHUNK :]
            taking.confirms()
            assert sender.sees("begun", lambda told: told["from_bytes"] > 0)["from_bytes"] == chunks * CHUNK
            sender.sees("received")


def test_a_file_that_changed_is_declined_and_announced_anew(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    fill(ann.home / "draft", 100)
    with sending(ann, server.url, "draft") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            changed = fill(ann.home / "draft", 200).read_bytes()
            assert bob.asks("draft").declined() == "changed"
            sender.sees("note", lambda told: "has changed" in told["text"])
            bob.hears_of_size("draft", 200)
            assert bob.takes("draft") == changed
        assert sender.ends()[0] == 0


def test_a_file_that_is_gone_is_withdrawn_and_with_the_last_one_it_ends(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    fill(ann.home / "draft", 100)
    with sending(ann, server.url, "draft") as sender, receiving(tmp_path, sender.opened) as bob:
        (ann.home / "draft").unlink()
        assert bob.asks("draft").declined() == "gone"
        code, last = sender.ends()
        assert (code, last["reason"]) == (1, "failed")


def test_several_take_it_at_once_until_as_many_as_wanted_have_it(
    ann: Person, server: ServerProcess, tmp_path: Path
) -> None:
    content = fill(ann.home / "film", 2 * 1024**2).read_bytes()
    with sending(ann, server.url, "film", "--receivers", "2") as sender:
        with receiving(tmp_path, sender.opened, "Bob") as bob, receiving(tmp_path, sender.opened, "Cid") as cid:
            slow, quick = bob.asks("film"), cid.asks("film")
            streams = [slow.chunks(), quick.chunks()]
            got = [next(stream) for stream in streams]
            for number, (stream, taking) in enumerate(zip(streams, (slow, quick), strict=True)):
                assert got[number] + b"".join(stream) == content
                taking.confirms()
        assert sender.ends()[0] == 0
    assert [told["name"] for told in sender.seen if told["type"] == "received"] == ["Bob", "Cid"]


def test_the_sender_shows_what_the_receiver_says_it_has(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    content = fill(ann.home / "film", 8 * CHUNK).read_bytes()
    with sending(ann, server.url, "film") as sender, receiving(tmp_path, sender.opened) as bob:
        taking = bob.asks("film")
        assert b"".join(taking.chunks()) == content
        taking.tells(4)
        progress = sender.sees("progress")
        assert (progress["written_bytes"], progress["size_bytes"]) == (4 * CHUNK, 8 * CHUNK)
        assert progress["bytes_per_second"] > 0


def test_what_has_no_right_receipt_does_not_count(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    fill(ann.home / "film", 100)
    with sending(ann, server.url, "film") as sender:
        with receiving(tmp_path, sender.opened) as bob:
            taking = bob.asks("film")
            list(taking.chunks())
            taking.confirms(receipt=bytes(32))
            sender.sees("unproven")
            bob.takes("film")
        assert sender.ends()[0] == 0
    assert [told["type"] for told in sender.seen].count("received") == 1


def test_a_request_that_no_member_made_is_declined(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    fill(ann.home / "film", 100)
    with sending(ann, server.url, "film", "--keep") as sender, receiving(tmp_path, sender.opened) as bob:
        assert bob.asks("film", sealed=os.urandom(300)).declined() == "declined"
        sender.sees("note", lambda told: "no member of the session made" in told["text"])
        bob.takes("film")
        sender.sees("received")


def test_the_code_lets_in_and_dies_after_three_wrong_guesses(
    ann: Person, server: ServerProcess, stranger: Client
) -> None:
    fill(ann.home / "film", 100)
    with sending(ann, server.url, "film", "--keep", "--words") as sender:
        code, link = sender.opened["code"], sender.opened["link"]
        secret = knock(stranger, code)
        assert link.endswith(f"#{secret.fragment}")
        for refused in ("code-wrong", "code-wrong", "code-dead"):
            with pytest.raises(Refused) as refusal:
                knock(stranger, code, "000000")
            assert refusal.value.slug == refused
        new = sender.sees("code-dead")["code"]
        assert new != code
        with pytest.raises(Refused) as refusal:
            knock(stranger, code)
        assert refusal.value.slug == "code-wrong"
        assert knock(stranger, new) == secret


def test_ctrl_c_closes_the_session(ann: Person, server: ServerProcess, stranger: Client) -> None:
    fill(ann.home / "film", 100)
    for options, expected in (([], 130), (["--keep"], 0)):
        with sending(ann, server.url, "film", *options) as sender:
            code, last = sender.is_interrupted()
            assert (code, last["reason"], last["receivers"]) == (expected, "interrupted", 0)
            with pytest.raises(Refused) as refusal:
                knock(stranger, sender.opened["code"])
            assert refusal.value.slug == "session-unknown"


def test_without_a_terminal_it_is_told_in_plain_lines(ann: Person, bob: Person, server: ServerProcess) -> None:
    fill(ann.home / "film.mp4", 100)
    process = ann.start("send", "film.mp4", "--server", server.url)
    assert process.stdout is not None
    assert process.stderr is not None
    with process, process.stdout, process.stderr:
        opening = [process.stdout.readline() for _ in range(6)]
        assert opening[0] == "Sending film.mp4 (100 B).\n"
        code = opening[2].split()[1]
        assert bob.run("receive", code, "--yes", "--name", "Bob\x1b[2J", "--server", server.url).code == 0
        told = process.stdout.read()
        assert process.wait(30) == 0
    assert "Bob�[2J received and verified film.mp4 (100 B)." in told
    assert (bob.home / "film.mp4").read_bytes() == (ann.home / "film.mp4").read_bytes()


def test_what_cannot_be_sent_is_said_before_anything_is_opened(ann: Person) -> None:
    assert explains(ann.run("send"), 2, "--text")
    assert explains(ann.run("send", "nothing-here"), 1, "nothing-here", "No such file")
    assert explains(ann.run("send", "/dev/null"), 1, "neither a file nor a folder")
    assert explains(ann.run("send", "--text", ""), 2, "empty")
    many = [fill(ann.home / f"many/{number}", 1) for number in range(1001)]
    assert explains(ann.run("send", *map(str, many)), 2, "1,001 files", "folder")
    assert explains(ann.run("send", "--text", "a", "--receivers", "0"), 2, "--receivers")


def test_in_a_terminal_the_code_stands_large_with_a_qr_code_and_how_to_receive(
    ann: Person, server: ServerProcess
) -> None:
    fill(ann.home / "film.mp4", 100)
    ran = ann.run_in_terminal("send", "film.mp4", "--server", server.url, answers=[("Ctrl-C", "\x03")], NO_COLOR="1")
    assert ran.code == 130, ran
    assert "Sending film.mp4 (100 B)." in ran.out
    assert "satchel receive" in ran.out
    assert "▀" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 100
    without = ann.run_in_terminal("send", "film.mp4", "--no-qr", "--server", server.url, answers=[("Ctrl-C", "\x03")])
    assert "▀" not in without.out
