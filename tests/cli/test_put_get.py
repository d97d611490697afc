"""FilePut files on a shelf and getting them back from a terminal, whatever is stopped or killed meanwhile."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import example, given
from hypothesis.strategies import binary, text

from satchel.cli.engine.files.batch import refuse_if_full
from satchel.cli.engine.files.download import Wanted, local_name, numbered, own_name
from satchel.cli.engine.files.local_files import sendable, utf8_name
from satchel.cli.engine.terminal.output import CommandFailed
from tests.application import PASSWORD
from tests.cli.drop.front import fronting
from tests.cli.terminal import Person, explains
from tests.cli.test_account import let_the_access_token_expire
from tests.kernel.test_names import every_character
from tests.server.process import ServerProcess
from tests.uploads.given import TUS, pairs

pytestmark = pytest.mark.slow

MEGABYTE = 1024**2


@pytest.fixture
def someone(ann: Person, server: ServerProcess) -> Person:
    """Signed in, with an empty shelf."""
    sign_up(ann, server.url)
    return ann


def sign_up(person: Person, server: str) -> None:
    email = f"{random.randrange(10**12)}@example.org"
    signup = ("signup", "--server", server, "--email", email, "--name", "Ann")
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0


@pytest.fixture
def alone(ann: Person, fresh_server: ServerProcess) -> Person:
    """The only one on a server that may be killed."""
    signup = ("signup", "--server", fresh_server.url, "--email", "ann@example.org", "--name", "Ann")
    assert ann.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    return ann


def fill(path: Path, size_bytes: int) -> Path:
    """A file no megabyte of which is like another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = random.randbytes(MEGABYTE - 8)
    with path.open("wb") as file:
        for number in range(size_bytes // MEGABYTE):
            file.write(number.to_bytes(8) + block)
        file.write(random.randbytes(size_bytes % MEGABYTE))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def objects(output: str) -> list[Any]:
    return [msgspec.json.decode(line) for line in output.splitlines()]


def listed(person: Person, path: str = "") -> list[str]:
    return [entry["name"] for entry in person.run("ls", path, "--json").json]


def begun_upload(person: Person) -> str:
    for journal in (person.home / ".config/satchel/uploads").glob("*.jsonl"):
        for line in journal.read_bytes().splitlines()[1:]:
            if upload_id := msgspec.json.decode(line).get("upload_id"):
                return upload_id
    return ""


def state(person: Person, upload_id: str) -> Any:
    server = person.kept["server"]
    headers = {"authorization": f"Bearer {person.kept['sessions'][server]['access_token']}"}
    return httpx.get(f"{server}/api/v1/uploads/{upload_id}", headers=headers).json()


def wait_until(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def wait_until_under_way(person: Person) -> str:
    """The id of an upload of which something has arrived."""
    wait_until(lambda: begun_upload(person))
    upload_id = begun_upload(person)
    wait_until(lambda: state(person, upload_id)["offset_bytes"])
    return upload_id


def test_a_folder_goes_and_comes_back_as_it_was(someone: Person) -> None:
    sent = someone.home / "band"
    fill(sent / "empty.txt", 0)
    fill(sent / "scores/violin.pdf", 5000)
    fill(sent / "scores/old/viola.pdf", 2 * MEGABYTE + 17)
    ran = someone.run("put", "band")
    assert ran.code == 0, ran
    assert "sent band/scores/violin.pdf (5.0 kB)" in ran.out
    assert "3 files, 2.1 MB, sent in" in ran.out
    assert ran.err == ""
    assert listed(someone) == ["band"]
    assert listed(someone, "band") == ["scores", "empty.txt"]
    assert someone.run("get", "band", "-o", "back").code == 0
    assert contents(someone.home / "back/band") == contents(sent)
    assert not list((someone.home / ".config/satchel/uploads").iterdir())


def test_a_thousand_small_files_arrive_once_each(someone: Person) -> None:
    for number in range(1000):
        fill(someone.home / f"many/{number % 7}/{number:04}.txt", number)
    ran = someone.run("put", "--quiet", "many", "--folder", "deep/er")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert someone.run("get", "--quiet", "deep/er/many").code == 0
    shelf = contents(someone.home / "many")
    assert len(shelf) == 1000
    assert someone.run("get", "--quiet", "deep/er/many", "-o", "back").code == 0
    assert contents(someone.home / "back/many") == shelf


def test_strange_names_arrive_readable_and_links_and_pipes_are_left_out_with_a_word(someone: Person) -> None:
    folder = someone.home / "odd"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("latin")
    (folder / "two\nlines\\and a slash.txt").write_text("lines")
    (folder / "Ünï 🎻 #%?&.txt").write_text("letters")
    (folder / "link").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    ran = someone.run("put", "odd", "--json")
    assert ran.code == 0, ran
    results = {each["path"].rpartition("/")[2]: each for each in objects(ran.out) if "path" in each}
    assert results["link"]["why"] == "a symbolic link"
    assert results["pipe"]["why"] == "neither a file nor a folder"
    assert sorted(listed(someone, "odd")) == sorted(
        ["caf�e9.txt", "two\nlines\\and a slash.txt", "Ünï 🎻 #%?&.txt"],
    )
    assert "Left out: " in someone.run("put", "odd").err


def test_a_link_that_is_named_is_followed(someone: Person) -> None:
    fill(someone.home / "target.bin", 10)
    (someone.home / "named.bin").symlink_to("target.bin")
    assert someone.run("put", "named.bin").code == 0
    assert listed(someone) == ["named.bin"]


def test_what_cannot_be_sent_is_named_and_the_same_command_tries_only_that_again(someone: Person) -> None:
    fill(someone.home / "there.txt", 100)
    ran = someone.run("put", "there.txt", "absent.txt")
    assert ran.code == 1
    assert "Not sent: " in ran.err
    assert "absent.txt: No such file" in ran.err
    assert "same command" in ran.err
    fill(someone.home / "absent.txt", 50)
    ran = someone.run("put", "there.txt", "absent.txt")
    assert ran.code == 0
    assert "1 file was sent before." in ran.out
    assert listed(someone) == ["absent.txt", "there.txt"]


def test_a_file_put_twice_is_there_once(someone: Person) -> None:
    fill(someone.home / "twice.txt", 100)
    assert someone.run("put", "twice.txt").code == someone.run("put", "twice.txt").code == 0
    assert listed(someone) == ["twice.txt"]


def test_machines_get_a_line_of_json_per_file(someone: Person) -> None:
    fill(someone.home / "one.txt", 100)
    sent, counts = objects(someone.run("put", "one.txt", "--json", "--folder", "here").out)
    assert (counts["result"], counts["new"]) == ("summary", 1)
    assert sent == {
        "result": "sent",
        "path": "one.txt",
        "size_bytes": 100,
        "place": "here/one.txt",
        "file_id": sent["file_id"],
    }
    (entry,) = someone.run("ls", "here", "--json").json
    assert entry["id"] == sent["file_id"]
    (fetched,) = objects(someone.run("get", "here/one.txt", "--json", "-o", "back").out)
    assert fetched["saved_as"] == "back/one.txt"


def test_a_killed_command_goes_on_where_it_was(someone: Person) -> None:
    sent = fill(someone.home / "large.bin", 200 * MEGABYTE)
    command = someone.start("put", "large.bin")
    upload_id = wait_until_under_way(someone)
    command.kill()
    command.communicate()
    assert state(someone, upload_id)["became"] is None
    assert someone.run("put", "large.bin").code == 0
    assert state(someone, upload_id)["became"]
    assert listed(someone) == ["large.bin"]
    assert someone.run("get", "large.bin", "-o", "back").code == 0
    assert (someone.home / "back/large.bin").read_bytes() == sent.read_bytes()


def test_a_file_that_changed_meanwhile_is_sent_anew(someone: Person) -> None:
    sent = fill(someone.home / "large.bin", 200 * MEGABYTE)
    command = someone.start("put", "large.bin")
    upload_id = wait_until_under_way(someone)
    command.kill()
    command.communicate()
    with sent.open("r+b") as file:
        file.write(b"changed")
    assert someone.run("put", "large.bin").code == 0
    assert state(someone, upload_id)["status"] == 410
    assert someone.run("get", "large.bin", "-o", "back").code == 0
    assert (someone.home / "back/large.bin").read_bytes() == sent.read_bytes()


def test_ctrl_c_says_that_the_same_command_goes_on(ann: Person, server: ServerProcess) -> None:
    fill(ann.home / "large.bin", 40 * MEGABYTE)
    with fronting(server.url) as front:
        sign_up(ann, front.url)
        # The upload is begun once its bar is shown, and cannot end before Ctrl-C has reached the command.
        front.large_bodies.clear()
        ran = ann.run_in_terminal("put", "large.bin", answers=[("large.bin", "\x03"), ("^C", front.pass_slowly)])
        assert ran.code == 130, ran.out
        assert "Run the same command again to resume." in ran.out
        assert "Traceback" not in ran.out
        upload_id = begun_upload(ann)
        front.pause_seconds = 0.0
        assert ann.run("put", "large.bin", "--quiet").code == 0
        assert state(ann, upload_id)["became"]


def test_of_many_small_files_none_is_sent_twice_though_the_command_is_killed(someone: Person) -> None:
    for number in range(600):
        fill(someone.home / f"many/{number:04}.txt", 4096)
    command = someone.start("put", "many")
    assert command.stdout is not None
    for _ in range(50):
        command.stdout.readline()
    command.kill()
    command.communicate()
    assert someone.run("put", "many", "--quiet").code == 0
    assert sorted(listed(someone, "many")) == [f"{number:04}.txt" for number in range(600)]


def test_a_server_that_is_killed_and_comes_back_is_waited_for(alone: Person, fresh_server: ServerProcess) -> None:
    sent = fill(alone.home / "large.bin", 200 * MEGABYTE)
    for number in range(300):
        fill(alone.home / f"many/{number:04}.txt", 4096)
    command = alone.start("put", "large.bin", "many")
    wait_until_under_way(alone)
    fresh_server.kill()
    assert command.stderr is not None
    assert "Trying again" in command.stderr.readline()
    with subprocess.Popen(fresh_server.process.args, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as again:
        out, err = command.communicate(timeout=100)
        assert command.returncode == 0, err
        assert "301 files" in out
        assert len(listed(alone, "many")) == 300
        assert alone.run("get", "large.bin", "-o", "back").code == 0
        again.send_signal(signal.SIGINT)
    assert (alone.home / "back/large.bin").read_bytes() == sent.read_bytes()


def test_a_session_that_runs_out_in_the_middle_is_renewed(someone: Person, server: ServerProcess) -> None:
    for number in range(50):
        fill(someone.home / f"many/{number}.txt", 100)
    let_the_access_token_expire(someone, server)
    assert someone.run("put", "many", "--quiet").code == 0
    assert len(listed(someone, "many")) == 50


def test_the_same_errand_twice_at_once_is_refused(someone: Person) -> None:
    fill(someone.home / "large.bin", 200 * MEGABYTE)
    command = someone.start("put", "large.bin")
    wait_until_under_way(someone)
    command.send_signal(signal.SIGSTOP)
    second = someone.run("put", "large.bin")
    command.kill()
    command.communicate()
    assert explains(second, 1, "Another command is sending the same files")


def test_what_is_here_already_is_neither_overwritten_nor_fetched_again(someone: Person) -> None:
    fill(someone.home / "song.txt", 100)
    assert someone.run("put", "song.txt").code == 0
    assert someone.run("get", "song.txt").code == 0
    assert not (someone.home / "song (1).txt").exists()
    (someone.home / "other").mkdir()
    (someone.home / "other/song.txt").write_text("mine")
    (someone.home / "other/song.txt.part").write_text("mine, too")
    ran = someone.run("get", "song.txt", "-o", "other", "--json")
    assert objects(ran.out)[0]["saved_as"] == "other/song (1).txt"
    assert contents(someone.home / "other") == {
        "song.txt": b"mine",
        "song.txt.part": b"mine, too",
        "song (1).txt": (someone.home / "song.txt").read_bytes(),
    }


def test_a_killed_fetch_goes_on_where_it_was_and_heals_a_damaged_beginning(someone: Person) -> None:
    sent = fill(someone.home / "large.bin", 300 * MEGABYTE)
    assert someone.run("put", "large.bin", "--quiet").code == 0
    part = someone.home / "back/large.bin.part"
    for damage in (b"", b"damaged"):
        command = someone.start("get", "large.bin", "-o", "back")
        wait_until(lambda: part.exists() and part.stat().st_size)
        command.kill()
        command.communicate()
        assert 0 < part.stat().st_size < sent.stat().st_size
        with part.open("r+b") as file:
            file.write(damage)
        assert someone.run("get", "large.bin", "-o", "back").code == 0
        assert (someone.home / "back/large.bin").read_bytes() == sent.read_bytes()
        assert [path.name for path in part.parent.iterdir()] == ["large.bin"]
        (someone.home / "back/large.bin").unlink()


def test_a_file_is_found_by_its_name_wherever_it_stands_unless_there_are_several(someone: Person) -> None:
    for place in ("a", "b/c"):
        fill(someone.home / "song.txt", 100)
        assert someone.run("put", "song.txt", "--folder", place).code == 0
    fill(someone.home / "alone.txt", 100)
    assert someone.run("put", "alone.txt", "--folder", "b").code == 0
    assert someone.run("get", "alone.txt", "-o", "back").code == 0
    assert explains(someone.run("get", "song.txt"), 1, "a/song.txt", "b/c/song.txt")
    assert explains(someone.run("get", "nothing.txt"), 1, "nothing.txt", "satchel ls")
    assert explains(someone.run("ls", "b/x"), 1, "b/x")


def test_the_list_has_name_size_and_time_with_folders_first(someone: Person) -> None:
    fill(someone.home / "a song.txt", 1234)
    fill(someone.home / "楽譜.txt", 5)
    assert someone.run("put", "a song.txt", "楽譜.txt").code == 0
    assert someone.run("put", "a song.txt", "--folder", "scores").code == 0
    lines = someone.run("ls").out.splitlines()
    assert [line[: line.index("20")] for line in lines] == [
        "scores/              ",
        "a song.txt   1.2 kB  ",
        "楽譜.txt        5 B  ",
    ]


def test_what_is_removed_is_in_the_bin(someone: Person) -> None:
    for name in ("one.txt", "two.txt", "folder/three.txt"):
        fill(someone.home / name, 10)
    assert someone.run("put", "one.txt", "two.txt", "folder").code == 0
    assert explains(someone.run("rm", "one.txt", "absent.txt"), 1, "absent.txt", "Nothing was removed")
    ran = someone.run("rm", "one.txt", "folder")
    assert ran.out == "one.txt was moved to the bin.\nfolder was moved to the bin.\n"
    assert listed(someone) == ["two.txt"]


def test_nothing_is_begun_without_room_for_it(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="1000 PB needed"):
        refuse_if_full(tmp_path, [Wanted("/huge", 10**18, "", tmp_path / "huge")])
    refuse_if_full(tmp_path, [Wanted("/small", 1, "", tmp_path / "small")])


def test_a_folder_that_cannot_be_made_is_explained(someone: Person) -> None:
    fill(someone.home / "one.txt", 10)
    assert someone.run("put", "one.txt").code == 0
    assert explains(someone.run("get", "one.txt", "-o", "one.txt/below"), 1, "one.txt/below")


@given(name=text())
@example(name="../../.ssh/authorized_keys")
@example(name="..")
@example(name="a" * 300 + ".txt")
@example(name="a." + "é" * 300)
def test_whatever_a_server_calls_a_file_it_stays_in_its_folder(name: str) -> None:
    cleaned = local_name(name)
    assert Path("folder", cleaned).resolve().parent == Path("folder").resolve()
    assert 0 < len(os.fsencode(cleaned)) <= 255
    assert not cleaned.startswith(".")
    assert len(os.fsencode(numbered(Path(cleaned), 12).name)) <= 255


@given(name=binary(min_size=1, max_size=255))
def test_whatever_a_file_is_called_here_its_name_can_be_sent(name: bytes) -> None:
    sent = sendable(os.fsdecode(name))
    assert sent.encode().decode() == sent
    assert not any(letter < " " or letter == "\\" for letter in sent)


def test_unfinished_uploads_are_listed_and_cancelled(someone: Person, server: ServerProcess) -> None:
    headers = {"authorization": f"Bearer {someone.kept['sessions'][server.url]['access_token']}", **TUS}
    about = {"upload-length": "70000", "upload-metadata": pairs(destination="shelf", filename="half.bin")}
    ids = [
        httpx.post(f"{server.url}/api/v1/uploads", headers={**headers, **about}).headers["location"].rpartition("/")[2]
        for _ in range(3)
    ]
    assert {each["upload_id"] for each in someone.run("uploads", "--json").json["uploads"]} == set(ids)
    listed = someone.run("uploads").out.splitlines()
    assert ["half.bin" in line and "0 B of 70" in line for line in listed] == [True] * 3, listed
    assert explains(someone.run("uploads", "cancel", "nosuch"), 1, "nosuch")
    assert someone.run("uploads", "cancel", ids[1][-8:]).out == "half.bin was cancelled.\n"
    cancelled = someone.run("uploads", "cancel", "--all", "--json").json["cancelled"]
    assert sorted(cancelled) == sorted([ids[0], ids[2]])
    assert someone.run("uploads").out == "Nothing is unfinished.\n"


NAMES = [
    *(".env", "readme", "README", "Readme", "trail.", "trail", " lead", "CON", "nul.txt", "a:b", "a*?", "back\\slash"),
    *(
        "new\nline",
        "end.txt\n",
        "tab\t",
        "é",
        "e\u0301",
        "\u202egpj.exe",
        "...",
        " ",
        "-rf",
        "#%25",
        "🏳️‍🌈",
        "a" * 255,
        "ß",
        "ss",
    ),
    *("file (1).txt", "file.txt", "x.part", "\u200c.git", "日本" * 42, "\x01", "\x7f", "%", "a#b", "ﬀ", "ff", "İ", "ı"),
]


def wild_tree(top: Path) -> None:
    """Some 400 names of every kind, times to the nanosecond, programs, and empty folders."""
    folders = [top / name for name in ("", ".git", ".git/hooks", "Dir", "dir", "a.", "nested/deep")]
    for folder in folders:
        folder.mkdir(parents=True)
        for name in NAMES if folder != top else (*NAMES, *every_character()[::200]):
            file = folder / name
            file.write_bytes(random.randbytes(random.choice([0, 10, 500])))
            file.chmod(random.choice([0o644, 0o755]))
    (top / "empty/deeper").mkdir(parents=True)
    for path in sorted(top.rglob("*"), reverse=True):
        moment = random.randrange(10**17, 17 * 10**17)
        os.utime(path, ns=(moment, moment))


def described(top: Path) -> dict[str, tuple[int, bool, bytes | None]]:
    """What `stat` and the content say of everything in a folder."""
    return {
        str(path.relative_to(top)): (
            path.stat().st_mtime_ns,
            os.access(path, os.X_OK),
            path.read_bytes() if path.is_file() else None,
        )
        for path in top.rglob("*")
    }


def test_every_character_of_ones_own_names_is_sent_and_written_as_it_is() -> None:
    names = every_character()
    assert [utf8_name(name) for name in names] == names == [own_name(name) for name in names]


def test_a_tree_comes_back_as_it_went(someone: Person) -> None:
    wild_tree(someone.home / "tree")
    sent = someone.run("put", "tree", "--quiet")
    assert (sent.code, sent.err) == (0, "")
    got = someone.run("get", "tree", "-o", "back", "--quiet")
    assert (got.code, got.err) == (0, "")
    assert described(someone.home / "back/tree") == described(someone.home / "tree")


def test_a_name_that_is_not_utf8_is_sent_under_another_and_said(someone: Person) -> None:
    (someone.home / "odd").mkdir()
    for name in (b"caf\xe9", b"caf\xe8"):
        Path(os.fsdecode(bytes(someone.home / "odd") + b"/" + name)).write_bytes(name)
    ran = someone.run("put", "odd")
    assert ran.code == 0
    assert ran.err.count("Renamed: ") == 2
    assert set(listed(someone, "odd")) == {"caf\ufffde9", "caf\ufffde8"}


@pytest.mark.parametrize(
    ("name", "here"),
    [
        *((".git", "_git"), (".bashrc", "_bashrc"), ("\u200c.git", "_git"), ("git~1", "_git~1"), ("..", "file")),
        *(("a\nb", "a_b"), ("CON", "CON"), ("a.txt", "a.txt"), (" .env", "_env")),
    ],
)
def test_a_name_that_somebody_else_chose_can_do_no_harm(name: str, here: str) -> None:
    assert local_name(name) == here
    assert own_name(name) == ("file" if name == ".." else name)
