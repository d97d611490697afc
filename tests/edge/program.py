"""A server as a process of its own: `python -m tests.edge.program PORT [trouble]`; says when it has closed."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp

from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import Identity
from satchel.edge.application import application
from satchel.edge.http.limits import Limits
from satchel.edge.http.logs import start_journal
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure
from satchel.edge.http.server import run
from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral


@asynccontextmanager
async def opened() -> AsyncGenerator[ASGIApp]:
    if "fail" in sys.argv:
        raise Unavailable("The table store at 10.0.0.9 does not answer. Start it, then try again.")
    router = Router("things")

    @router.get("/slow")
    async def slow() -> list[str]:
        await asyncio.sleep(1)
        return ["done"]

    @router.get("/stuck")
    async def stuck() -> None:
        await asyncio.Event().wait()

    ephemeral = await MemoryEphemeral.open(clock=system_clock)
    yield application(
        [router],
        identity=Identity(Signer(b"k" * 32), ephemeral),
        checks={},
        exposure=Exposure(),
        journal=start_journal("json", "info"),
        metrics=Metrics(),
        version="1",
    )
    await ephemeral.close()
    sys.stderr.write("closed\n")


if __name__ == "__main__":
    host = "no.such.host.invalid" if "badhost" in sys.argv else "198.51.100.7" if "foreign" in sys.argv else "127.0.0.1"
    sys.exit(run(opened, host=host, port=int(sys.argv[1]), limits=Limits(shutdown_seconds=60)))
