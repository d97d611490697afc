"""magic-wormhole with a mailbox and a transit relay of its own on loopback, every byte through the relay."""

import itertools
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.processes import serving
from tests.services import free_port, tool

_CODES = itertools.count(11)


@dataclass(frozen=True, slots=True)
class Wormhole:
    """The two servers."""

    mailbox_port: int
    relay_port: int
    relay_pid: int

    def new_code(self) -> str:
        return f"{next(_CODES)}-side-by-side"

    def send(self, code: str, what: Path) -> Sequence[str]:
        # Without listeners neither side can reach the other but through the relay.
        return [*self._program(), "send", "--hide-progress", "--no-qr", "--no-listen", "--code", code, str(what)]

    def receive(self, code: str) -> Sequence[str]:
        return [*self._program(), "receive", "--hide-progress", "--accept-file", "--no-listen", code]

    def _program(self) -> Sequence[str]:
        mailbox = f"ws://127.0.0.1:{self.mailbox_port}/v1"
        return [tool("wormhole"), "--relay-url", mailbox, "--transit-helper", f"tcp:127.0.0.1:{self.relay_port}"]


@contextmanager
def wormhole_servers(folder: Path) -> Generator[Wormhole]:
    folder.mkdir()
    mailbox_port, relay_port = free_port(), free_port()
    twist = [tool("twist"), "--log-level=error"]
    mailbox = ["wormhole-mailbox", "--port", f"tcp:{mailbox_port}:interface=127.0.0.1"]
    relay = ["transitrelay", "--port", f"tcp:{relay_port}:interface=127.0.0.1"]
    with ExitStack() as opened:
        kept = ["--channel-db", str(folder / "mailbox.sqlite")]
        opened.enter_context(serving([*twist, *mailbox, *kept], mailbox_port, cwd=folder))
        pid = opened.enter_context(serving([*twist, *relay], relay_port, cwd=folder))
        yield Wormhole(mailbox_port, relay_port, pid)
