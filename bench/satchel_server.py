"""A real `satchel serve` of the bench's own, with accounts and signed links."""

import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.processes import serving
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_objects
from satchel.stores.ports.objects import Objects
from tests.services import free_port, tool

PASSWORD = "a long password for the bench"


@dataclass(frozen=True, slots=True)
class SatchelServer:
    """Which process it is, where it listens and what it signs with."""

    pid: int
    settings: Settings

    @property
    def url(self) -> str:
        return self.settings.address

    def sign_up(self, email: str) -> str:
        """Make an account and answer its access token."""
        body = {"email": email, "name": "Ann", "password": PASSWORD}
        response = httpx.post(f"{self.url}/api/v1/accounts", json=body, timeout=30)
        response.raise_for_status()
        return str(response.json()["tokens"]["access_token"])

    @asynccontextmanager
    async def objects(self) -> AsyncGenerator[Objects]:
        """The server's own folder, opened beside it to sign links as it would and to clear away."""
        objects = await open_objects(self.settings, system_clock, Signer(self.settings.secret.encode()))
        try:
            yield objects
        finally:
            await objects.close()


def serve_command(data: Path, port: int) -> list[str]:
    return [tool("satchel"), "serve", "--data", str(data), "--port", str(port)]


@contextmanager
def satchel_server(data: Path, *, log_level: str = "warning") -> Generator[SatchelServer]:
    """With `log_level` "info", which is Satchel's default, it writes a line per request; the peers write none."""
    settings = Settings(data=data, port=free_port(), secret=secrets.token_hex(32))
    environment = {
        "SATCHEL_SECRET": settings.secret,
        "SATCHEL_SIGN_UP": "open",
        "SATCHEL_LOG_LEVEL": log_level,
    }
    with serving(serve_command(data, settings.port), settings.port, environment=environment) as pid:
        yield SatchelServer(pid, settings)
