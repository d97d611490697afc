"""Run the application: listen, print the address, answer until told to stop, then finish what was begun."""

import asyncio
import contextlib
import ctypes
import errno
import gc
import resource
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

import uvloop

from satchel.edge.http.lan_addresses import ALL, ALL_IPV4, is_only_here
from satchel.edge.http.limits import Limits
from satchel.edge.http.protocol import HttpProtocol
from satchel.edge.http.server_state import ServerState
from satchel.edge.http.tls_listener import TlsListener
from satchel.kernel.errors import SatchelError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Opening yields an application that can answer. Closing releases everything that it holds.
OpenApplication = Callable[[], AbstractAsyncContextManager["ASGIApp"]]


# Of mallopt(3).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# More than any buffer of a body has, and less than hashing a password takes.
_LARGE_BYTES = 8 * 1024 * 1024
_INTERRUPTED = 130
_LOOK_AGAIN_SECONDS = 0.05
_LAST_WORDS_SECONDS = 1.0


NOT_SENT_BYTES = 256 * 1024


class CannotListen(Exception):
    """The server cannot listen on this address. The message says why and what to do."""


def run(
    open_application: OpenApplication,
    *,
    host: str,
    port: int,
    address: str | None = None,
    limits: Limits | None = None,
    tls: ssl.SSLContext | None = None,
    greetings: Callable[[str], Awaitable[list[str]]] | None = None,
    on_stopping: Callable[[], None] = lambda: None,
) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit code; what prevents the start is a sentence on standard error.

    `address` is what people use, if it is not simply host and port. `greetings` makes further lines for the terminal
    from it. With `tls`, the port takes https and http, and the application sees which. `on_stopping` is called as soon
    as the server is told to stop, while requests are still being answered.
    """
    keep_few_arenas()
    try:
        with listen(host, port) as listener:
            here = _reached_at(host)
            # At its own loopback address, a machine needs no certificate.
            scheme = "https" if tls and not is_only_here(here) else "http"
            shown = address or f"{scheme}://{here}:{listener.getsockname()[1]}"
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                greet = partial(_greet, shown, greetings)
                runner.run(_serve(open_application, listener, limits or Limits(), greet, on_stopping, tls))
    except (CannotListen, SatchelError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        # This can happen only before the server handles signals itself.
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
        _leave_little_to_the_kernel(listener)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind(where)
    except OSError as error:
        listener.close()
        raise CannotListen(_why_not(error, host, port)) from error
    return listener


def _leave_little_to_the_kernel(listener: socket.socket) -> None:
    """Bound what the kernel keeps of an answer that a reader does not take; all connections inherit it.

    Else it takes up to four megabytes for each, which nothing here counts. What is on its way does not count, so a fast
    reader far away is not slowed down.
    """
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOT_SENT_BYTES)


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


def _reached_at(host: str) -> str:
    """The host at which this machine reaches a server that listens there."""
    host = {ALL_IPV4: "127.0.0.1", ALL: "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


async def _serve(
    open_application: OpenApplication,
    listener: socket.socket,
    limits: Limits,
    greet: Callable[[], Awaitable[list[str]]],
    on_stopping: Callable[[], None],
    tls: ssl.SSLContext | None,
) -> None:
    _allow_many_files()
    async with open_application() as application:
        collect_seldom()
        lines = await greet()
        print_them = partial(print, *lines, sep="\n", flush=True)
        await Server(application, limits, print_them, on_stopping, tls=tls).serve(listener)


async def _greet(address: str, more: Callable[[str], Awaitable[list[str]]] | None) -> list[str]:
    return [f"Satchel is running at {address}", *(await more(address) if more else ())]


class Server:
    """Answers on a socket until it is told to stop."""

    def __init__(
        self,
        application: "ASGIApp",
        limits: Limits,
        on_started: Callable[[], None],
        on_stopping: Callable[[], None] = lambda: None,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._application = application
        self._limits = limits
        self._on_started = on_started
        self._on_stopping = on_stopping
        self._tls = tls
        self._stopping = asyncio.Event()
        # Set by a second request to stop: nothing is waited for any more.
        self._hurrying = asyncio.Event()

    def stop(self) -> None:
        """Stop when what was begun is finished; asked a second time, at once."""
        if self._stopping.is_set():
            self._hurrying.set()
        self._stopping.set()
        self._on_stopping()

    async def serve(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        state = ServerState(self._application, self._limits, loop)
        with self._signals_handled(loop):
            listening = (
                TlsListener(listener, self._tls, state)
                if self._tls
                else await loop.create_server(lambda: HttpProtocol(state), sock=listener, backlog=self._limits.backlog)
            )
            self._on_started()
            await self._stopping.wait()
            listening.close()
            await self._finish(state)

    async def _finish(self, state: ServerState) -> None:
        for connection in (*state.connections, *state.websockets):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.shutdown_seconds):
                while state.is_in_use and not self._hurrying.is_set():  # noqa: ASYNC110 -- many things can end it
                    await asyncio.sleep(_LOOK_AGAIN_SECONDS)
        if state.tasks:
            # Each of them still tells its client that the server stops, while the stores are open.
            for task in state.tasks:
                task.cancel()
            await asyncio.wait(state.tasks, timeout=_LAST_WORDS_SECONDS)

    @contextlib.contextmanager
    def _signals_handled(self, loop: asyncio.AbstractEventLoop) -> Generator[None]:
        """The first signal stops gracefully, a second at once."""
        if threading.current_thread() is not threading.main_thread():
            # Signals reach the main thread alone; whoever runs this elsewhere calls `stop`.
            yield
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


def collect_seldom() -> None:
    """Collect garbage cycles after 50,000 new objects instead of 700, and never among what exists now.

    Nearly all of our objects are freed by their reference counts. The default takes a tenth of a busy server's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def keep_few_arenas() -> None:
    """Let all threads have memory from two arenas of the C library.

    glibc makes one for each of the first threads, up to eight for each core. Each keeps for itself what was freed in
    it, so after some uploads a server held several times what it used.

    What is large is given back at once. Without a bound of our own, the first password that is hashed raises it to the
    19 MiB that this takes, and from then on they stay with the arena of each thread that has ever hashed one.
    """
    with contextlib.suppress(AttributeError, OSError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(_M_ARENA_MAX, 2)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _LARGE_BYTES)


def _allow_many_files() -> None:
    """Raise the soft limit of open files, which is often 1024: every connection is a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
