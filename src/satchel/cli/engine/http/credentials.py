"""Tokens on disk between two commands: one private file, replaced atomically, with a lock for writers."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from satchel.cli.engine.terminal.output import CommandFailed


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """What proves to one server who we are."""

    email: str
    access_token: str
    refresh_token: str


class GuestPass(msgspec.Struct, frozen=True, kw_only=True):
    """What proves to one server that we are the guest whom it let in; good until it expires."""

    guest_id: str
    name: str
    access_token: str
    expires_at: str


class Kept(msgspec.Struct, kw_only=True):
    """All that is in the file: the server used last, and what proves who we are by the address of each server.

    `devices` stays after signing out: it proves that somebody has signed in from here before, and opens nothing.
    """

    server: str = ""
    sessions: dict[str, Session] = {}
    devices: dict[str, str] = {}
    guests: dict[str, GuestPass] = {}


class CredentialsFile:
    """Reads and changes the credentials. Errors are `CommandFailed` and say what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of_this_user(cls) -> "CredentialsFile":
        configured = os.environ.get("XDG_CONFIG_HOME", "")
        # The XDG rules say to ignore a relative path.
        folder = Path(configured) if configured.startswith("/") else Path.home() / ".config"
        return cls(folder / "satchel" / "credentials.json")

    def read(self) -> Kept:
        with self._explained("read"):
            try:
                with self.path.open("rb") as file:
                    self._refuse_if_others_can_read(os.fstat(file.fileno()).st_mode)
                    content = file.read()
            except FileNotFoundError:
                return Kept()
        try:
            return msgspec.json.decode(content, type=Kept)
        except msgspec.DecodeError as error:
            raise CommandFailed(
                f"The credentials in {self.path} are damaged. Delete that file, then use `satchel login`."
            ) from error

    @contextmanager
    def changing(self) -> Generator[Kept]:
        """Read, let the block change what was read, and write it; other commands wait until that is done.

        A block that raises or changes nothing writes nothing: a disk takes its time to keep something.
        """
        with self._locked():
            kept = self.read()
            before = msgspec.json.encode(kept)
            yield kept
            after = msgspec.json.encode(kept)
            if after != before:
                with self._explained("written"):
                    self._write(msgspec.json.format(after))

    @contextmanager
    def _locked(self) -> Generator[None]:
        # A file of its own, because the credentials file is another one after every change.
        with self._explained("written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.parent.chmod(0o700)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _write(self, content: bytes) -> None:
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".credentials-")  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _refuse_if_others_can_read(self, mode: int) -> None:
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise CommandFailed(
                f"Others on this machine can use the credentials in {self.path}. Make them private: "
                f"chmod 600 {self.path}"
            )

    @contextmanager
    def _explained(self, done: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise CommandFailed(f"The credentials in {self.path} cannot be {done}: {error.strerror}.") from error
