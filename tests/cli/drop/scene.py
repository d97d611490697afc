"""Somebody hands something over by a hostile server, and what that server must never have heard of it."""

import base64
import hashlib
import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.drop.crypto.codes import read_invitation
from satchel.cli.drop.crypto.session_keys import CHUNK, Keys
from tests.cli.drop.hostile import Hostile, hostile_server
from tests.cli.drop.sender import Sender, sending
from tests.cli.terminal import Person, Ran

SENDER, RECEIVER = "Ann of the lighthouse", "Bob from the mainland"
# Three whole chunks and a short one.
SIZES = (CHUNK, CHUNK, CHUNK, 100_000)
# Streams are as long as this at least, and nothing else is.
_LONG_BYTES = 64 * 1024


@dataclass
class Scene:
    """A running `satchel send --words` with these files. It stays, so that several can be lied to one after another."""

    server: Hostile
    sender: Sender
    files: dict[str, bytes]
    # With this every chunk of every file begins.
    mark: bytes

    @property
    def session_id(self) -> str:
        return self.server.all_calls("POST", "/sessions")[0].body["session_id"]

    @property
    def owner_id(self) -> str:
        return self.server.all_calls("POST", "/sessions")[0].body["member_id"]

    @property
    def keys(self) -> Keys:
        secret = read_invitation(self.sender.opened["link"]).secret
        assert secret is not None
        return Keys(secret, self.session_id)

    def receive(self, person: Person, *arguments: str, by: str = "link") -> Ran:
        return person.run("receive", *self.invited(arguments, by=by), SATCHEL_SERVER=self.server.url)

    def invited(self, more: tuple[str, ...] = (), *, by: str = "link") -> list[str]:
        return [self.sender.opened[by], "--yes", "--name", RECEIVER, "--into", "here", *more]

    def is_noticed(self, ran: Ran, person: Person, *words: str) -> bool:
        """Whether the command failed, says why, and has left nothing under the name of what was sent."""
        assert ran.code == 1, ran
        assert all(word in ran.err for word in words), ran.err
        assert "Traceback" not in ran.err
        assert landed(person) == {}
        return True

    def is_kept_from_the_server(self) -> bool:
        """Whether it heard nothing, in any spelling; what it has heard until now is forgotten then."""
        stored = [file.read_bytes() for file in self.server.data.rglob("*") if file.is_file()]
        heard, self.server.heard = {*self.server.heard, *stored}, []
        words = b"\n".join(each for each in heard if len(each) < _LONG_BYTES)
        streams = b"\n".join(each for each in heard if len(each) >= _LONG_BYTES)
        for what, secret in self._secrets():
            assert not any(spelling in words for spelling in spellings(secret)), what
        for what, secret in (("a mark of a file", self.mark), *self._keys()):
            assert not any(spelling in streams for spelling in spellings(secret)), what
        return True

    def _keys(self) -> Iterator[tuple[str, bytes]]:
        secret = read_invitation(self.sender.opened["link"]).secret
        assert secret is not None
        yield "the secret", secret.value
        yield from (("a key", key) for key in (self.keys.meta, self.keys.auth, self.keys.psk))

    def _secrets(self) -> Iterator[tuple[str, bytes]]:
        yield from self._keys()
        died = [told["code"] for told in self.sender.seen if told["type"] == "code-dead" and told["code"]]
        for spoken in (self.sender.opened["code"], *died):
            code = read_invitation(spoken).code or ""
            for spelling in {code, code.replace("-", " "), code.replace("-", ""), spoken}:
                yield "the code", spelling.encode()
                yield "SHA-256 of the code", hashlib.sha256(spelling.encode()).digest()
                yield "SHA-512 of the code", hashlib.sha512(spelling.encode()).digest()
        yield from (("who it is", name.encode()) for name in (SENDER, RECEIVER))
        yield "a mark of a file", self.mark
        for name, content in self.files.items():
            yield "the name of a file", name.encode()
            yield "SHA-256 of a file", hashlib.sha256(content).digest()


def spellings(secret: bytes) -> Iterator[bytes]:
    """As it is, in hexadecimal digits, and in base64 wherever in a text it stands."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for before in range(3):
        first, behind = -(-before * 8 // 6), (before + len(secret)) * 8 // 6
        yield base64.b64encode(bytes(before) + secret)[first:behind]
        yield base64.urlsafe_b64encode(bytes(before) + secret)[first:behind]


def landed(person: Person) -> dict[str, bytes]:
    """What has its final name."""
    here = person.home / "here"
    files = here.iterdir() if here.exists() else ()
    return {file.name: file.read_bytes() for file in files if ".satchel-part" not in file.name}


@contextmanager
def handing_over(folder: Path, *names: str) -> Generator[Scene]:
    """Files of these names. Whatever happens meanwhile, the server has heard nothing of them in the end."""
    ann = Person(folder / "sender")
    ann.home.mkdir()
    mark = random.randbytes(32)
    files = {name: b"".join(mark + random.randbytes(size - 32) for size in SIZES) for name in names}
    for name, content in files.items():
        (ann.home / name).write_bytes(content)
    options = ("--words", "--keep", "--name", SENDER)
    with hostile_server(folder / "data") as server, sending(ann, server.url, *names, *options) as sender:
        scene = Scene(server, sender, files, mark)
        yield scene
        assert scene.is_kept_from_the_server()
