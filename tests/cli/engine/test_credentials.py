"""The file that keeps the tokens: private, whole, and explained when it cannot be used."""

import stat
from pathlib import Path

import pytest

from satchel.cli.engine.http.credentials import CredentialsFile
from satchel.cli.engine.terminal.output import CommandFailed
from tests.cli.terminal import Person, explains
from tests.cli.test_account import sign_up
from tests.server.process import ServerProcess


@pytest.mark.slow
def test_tokens_are_kept_where_only_their_owner_can_look(ann: Person, server: ServerProcess) -> None:
    (ann.home / ".config" / "satchel").mkdir(parents=True, mode=0o755)
    sign_up(ann, server, "private@example.org")
    assert stat.S_IMODE(ann.credentials.stat().st_mode) == 0o600
    assert stat.S_IMODE(ann.credentials.parent.stat().st_mode) == 0o700
    assert sorted(file.name for file in ann.credentials.parent.iterdir()) == ["credentials.json", "credentials.lock"]


@pytest.mark.slow
def test_the_folder_of_xdg_is_used_where_one_is_set(ann: Person, server: ServerProcess, tmp_path: Path) -> None:
    elsewhere = {"XDG_CONFIG_HOME": str(tmp_path / "elsewhere")}
    arguments = ("signup", "--server", server.url, "--email", "xdg@example.org", "--name", "Ann")
    assert ann.run(*arguments, SATCHEL_PASSWORD="correct horse battery", **elsewhere).code == 0
    assert (tmp_path / "elsewhere" / "satchel" / "credentials.json").exists()
    assert not ann.credentials.exists()


@pytest.mark.slow
def test_tokens_that_others_can_read_are_not_used_and_the_remedy_is_told(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server, "readable@example.org")
    ann.credentials.chmod(0o644)
    assert explains(ann.run("whoami"), 1, f"chmod 600 {ann.credentials}")
    ann.credentials.chmod(0o600)
    assert ann.run("whoami").code == 0


@pytest.mark.parametrize("content", [b'{"server": "http://x', b"[]", b"\xff\xfe", b""])
def test_a_damaged_file_is_explained(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "credentials.json"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(CommandFailed, match=r"damaged\. Delete that file"):
        CredentialsFile(file).read()


def test_a_change_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = CredentialsFile(tmp_path / "credentials.json")
    with file.changing() as kept:
        kept.server = "https://satchel.example.org"
    with pytest.raises(KeyError), file.changing() as kept:
        kept.server = "https://elsewhere.example.org"
        raise KeyError
    assert file.read().server == "https://satchel.example.org"


def test_what_stays_as_it_was_is_not_written_again(tmp_path: Path) -> None:
    file = CredentialsFile(tmp_path / "credentials.json")
    files: set[int] = set()
    for server in ("https://satchel.example.org", "https://satchel.example.org"):
        with file.changing() as kept:
            kept.server = server
        files.add(file.path.stat().st_ino)
    assert len(files) == 1


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_explained(ann: Person, server: ServerProcess) -> None:
    (ann.home / ".config").write_text("in the way")
    ran = sign_up(ann, server, "nowhere@example.org")
    assert explains(ran, 1, "credentials", "Not a directory")
