"""A whole Satchel in this process on embedded stores, spoken to over HTTP; time moves only when told to."""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from satchel.app import application
from satchel.chores import Sweep
from satchel.config import Settings
from satchel.features.accounts.service.passwords import Cost, Passwords
from satchel.kernel.clock import ManualClock
from satchel.secret import open_signer
from satchel.stores.connect import Stores
from tests.declared_keys import DeclaredKeys

PASSWORD = "correct horse battery"

# Real hashes that cost next to nothing. Servers in processes of their own keep to the standard.
Passwords.cost = Cost(passes=1, kibibytes=8)
# httpx looks for it at each request, in every folder of the path.
sys.modules.setdefault("trio", None)  # pyright: ignore[reportArgumentType]


@dataclass
class Caller:
    """A client with its own cookies and, once signed in, its own tokens."""

    http: httpx.AsyncClient
    tokens: dict[str, Any] = field(default_factory=dict[str, Any])
    session_id: str = ""
    user_id: str = ""

    async def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = dict(options.pop("headers", {}))
        if self.tokens:
            headers.setdefault("authorization", f"Bearer {self.tokens['access_token']}")
        return await self.http.request(method, f"/api/v1{path}", headers=headers, **options)

    def keep(self, response: httpx.Response) -> httpx.Response:
        """Act as whoever this answer has signed in."""
        if response.is_success:
            content = response.json()
            self.tokens = content["tokens"]
            self.session_id, self.user_id = content["session_id"], content["user_id"]
        return response

    async def sign_up(self, email: str, password: str = PASSWORD, **more: Any) -> httpx.Response:
        body = {"email": email, "name": email.partition("@")[0], "password": password, **more}
        return self.keep(await self("POST", "/accounts", json=body))

    async def sign_in(self, email: str, password: str = PASSWORD, **more: Any) -> httpx.Response:
        return self.keep(await self("POST", "/sessions", json={"email": email, "password": password, **more}))

    async def refresh(self, token: str | None = None) -> httpx.Response:
        old = token or self.tokens["refresh_token"]
        return self.keep(await self("POST", "/sessions/refresh", json={"refresh_token": old}))


@dataclass
class Satchel:
    """The running application, its stores and its clock."""

    app: ASGIApp
    stores: Stores
    clock: ManualClock
    settings: Settings
    sweep: Callable[[], Awaitable[Sweep]]

    async def housekeep(self) -> None:
        """One round of every chore, none of which may fail."""
        assert not [chore.name for chore in (await self.sweep()).chores if chore.failed]

    def caller(self, address: str = "127.0.0.1") -> Caller:
        transport = httpx.ASGITransport(self.app, client=(address, 50000))
        return Caller(httpx.AsyncClient(transport=transport, base_url="http://satchel.test"))


@asynccontextmanager
async def running_satchel(
    data: Path,
    clock: ManualClock | None = None,
    through: Callable[[Stores], Stores] = lambda stores: stores,
    **chosen: Any,
) -> AsyncGenerator[Satchel]:
    """Every key of the ephemeral store that it uses has to be declared."""
    clock = clock or ManualClock()
    settings = Settings(data=data, **chosen)

    def checked(stores: Stores) -> Stores:
        return through(replace(stores, ephemeral=DeclaredKeys(stores.ephemeral)))

    async with application(settings, clock, through=checked) as running:
        yield Satchel(running.app, running.stores, clock, settings, running.housekeep)


def set_up_code(satchel: Satchel) -> str:
    """The code that the server prints when it starts, for the first account from elsewhere."""
    return open_signer(satchel.settings).derive("set-up").hex()[:32]
