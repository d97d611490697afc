"""Run the application: listen, say so, answer until told to stop, then finish what was begun."""

import asyncio
import contextlib
import errno
import gc
import resource
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

import uvicorn
import uvloop

from satchel.edge.http.limits import Limits
from satchel.edge.http.protocol import Protocol
from satchel.edge.http.websocket_protocol import UpgradedProtocol
from satchel.kernel.errors import SatchelError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Opening yields an application that can answer; closing lets go of everything that it held.
OpenApplication = Callable[[], AbstractAsyncContextManager["ASGIApp"]]


_INTERRUPTED = 130


class CannotListen(Exception):
    """The address cannot be listened on; the message says why and what to do."""


def run(
    open_application: OpenApplication,
    *,
    host: str,
    port: int,
    address: str | None = None,
    limits: Limits | None = None,
    on_stopping: Callable[[], None] = lambda: None,
) -> int:
    """Serve until SIGINT or SIGTERM and answer the exit code; what prevents it is one sentence on standard error.

    `address` is what people use, if it is not simply host and port. `on_stopping` is called as soon as the server is
    told to stop, while requests are still being answered.
    """
    try:
        with listen(host, port) as listener:
            shown = address or f"http://{_shown(host)}:{listener.getsockname()[1]}"
            greeting = f"Satchel is running at {shown}"
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                greet = partial(print, greeting, flush=True)
                runner.run(_serve(open_application, listener, limits or Limits(), greet, on_stopping))
    except (CannotListen, SatchelError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        # Only before the server has begun to handle signals itself.
        return _INTERRUPTED
    return 0


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address, or `CannotListen`."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise CannotListen(f"The address {host!r} is not known. Give one of this machine, such as 127.0.0.1.") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(where)
    except OSError as error:
        listener.close()
        raise CannotListen(_why_not(error, host, port)) from error
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} of {host} is in use. Stop what runs there, or choose another port with --port."
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine. Try 127.0.0.1, or 0.0.0.0 for all of its networks."
        case errno.EACCES:
            return f"Port {port} needs more rights than this user has. Choose one from 1024 up with --port."
        case _:
            return f"It is not possible to listen on {host} port {port}: {error.strerror}."


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def _serve(
    open_application: OpenApplication,
    listener: socket.socket,
    limits: Limits,
    greet: Callable[[], None],
    on_stopping: Callable[[], None],
) -> None:
    _allow_many_files()
    async with open_application() as application:
        collect_seldom()
        await Server(application, limits, greet, on_stopping).serve(sockets=[listener])


class Server(uvicorn.Server):
    """uvicorn's server, set up our way; it says when it listens and comes back when asked to stop."""

    def __init__(
        self,
        application: "ASGIApp",
        limits: Limits,
        on_started: Callable[[], None],
        on_stopping: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_started = on_started
        self._on_stopping = on_stopping
        upgraded: set[UpgradedProtocol] = set()
        super().__init__(
            uvicorn.Config(
                application,
                http=type("LimitedProtocol", (Protocol,), {"limits": limits, "upgraded": upgraded}),
                ws=type("LimitedUpgradedProtocol", (UpgradedProtocol,), {"limits": limits, "upgraded": upgraded}),
                ws_per_message_deflate=False,
                ws_max_size=limits.websocket_bytes,
                ws_ping_interval=limits.ping_seconds,
                ws_ping_timeout=limits.ping_seconds,
                # The application is opened around the server, so that it can refuse before anything listens.
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                backlog=limits.backlog,
                limit_concurrency=limits.connections,
                timeout_keep_alive=limits.keep_alive_seconds,
                timeout_graceful_shutdown=limits.shutdown_seconds,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """The first signal stops gracefully, a second at once; uvicorn would raise them again after its end."""
        if threading.current_thread() is not threading.main_thread():
            # Signals reach the main thread alone; whoever runs this elsewhere ends it by `should_exit`.
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._on_stopping()


def collect_seldom() -> None:
    """Let Python look for garbage in cycles after 50,000 new objects, not 700, and never in what is there already.

    Nearly all of ours goes without being looked for; looking as often as usual takes a tenth of a busy server's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def _allow_many_files() -> None:
    """Every connection is a file; the soft limit is often 1024, and ours to raise."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
