"""Listen for TLS and for plain HTTP on one port: the first byte of a connection tells which it is.

The byte is only looked at and stays in the socket, so that whoever takes the connection over reads all of it. While a
connection has not sent it, or shakes hands, it counts as one that waits: it has a deadline, and may have to make room.
"""

import asyncio
import errno
import logging
import socket
import ssl
from functools import partial

from satchel.edge.http.protocol import HttpProtocol
from satchel.edge.http.server_state import ServerState, address_of
from satchel.stores.patterns.throttle import networks_of

_log = logging.getLogger("satchel.edge")

_HANDSHAKE = b"\x16"  # the type of the first TLS record; no method of HTTP begins with it
# What `accept` says when no more files may be open, or no memory is left; connections then wait in the backlog.
_NO_MORE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_TRY_AGAIN_SECONDS = 1.0
# So many connections are taken at once, before others have their turn.
_AT_ONCE = 64


class TlsListener:
    """Takes connections from a socket until it is closed."""

    def __init__(self, listener: socket.socket, context: ssl.SSLContext, state: ServerState) -> None:
        self._listener = listener
        self._context = context
        self._state = state
        listener.setblocking(False)
        listener.listen(state.limits.backlog)
        state.loop.add_reader(listener, self._accept)
        self._pause: asyncio.TimerHandle | None = None

    def close(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
        self._state.loop.remove_reader(self._listener)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                accepted, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _NO_MORE:
                    raise
                _log.error("no more connections can be taken: %s", error.strerror)
                self._state.loop.remove_reader(self._listener)
                again = partial(self._state.loop.add_reader, self._listener, self._accept)
                self._pause = self._state.loop.call_later(_TRY_AGAIN_SECONDS, again)
                return
            accepted.setblocking(False)
            _Arrival(accepted, peer, self._context, self._state)


class _Arrival:
    """A connection that is not yet one of HTTP."""

    def __init__(self, accepted: socket.socket, peer: object, context: ssl.SSLContext, state: ServerState) -> None:
        self._socket = accepted
        self._context = context
        self._state = state
        self._client = address_of(peer)
        self._deadline = state.loop.time() + state.limits.head_seconds
        self._timer = state.loop.call_at(self._deadline, self.shutdown)
        self._task: asyncio.Task[None] | None = None
        self._protocol: HttpProtocol | None = None
        state.connections.add(self)
        state.make_room(self)
        state.loop.add_reader(accepted, self._look)

    # Called by the server.

    def shutdown(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:
            self._state.loop.remove_reader(self._socket)
            self._leave()
            self._socket.close()

    def give_way(self) -> None:
        self.shutdown()

    def waits_until(self) -> float | None:
        # Once it is one of HTTP, it must not make room for itself.
        return None if self._protocol in self._state.connections else self._deadline

    def network(self) -> str:
        return networks_of(self._client[0] if self._client else "")[-1][0]

    # Within.

    def _look(self) -> None:
        try:
            first = self._socket.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            first = b""
        if not first:
            self.shutdown()
            return
        self._state.loop.remove_reader(self._socket)
        self._task = self._state.loop.create_task(self._become_http(secure=first == _HANDSHAKE))

    async def _become_http(self, *, secure: bool) -> None:
        loop, state = self._state.loop, self._state
        protocol = self._protocol = HttpProtocol(state)
        try:
            await loop.connect_accepted_socket(
                lambda: protocol,
                self._socket,
                ssl=self._context if secure else None,
                ssl_handshake_timeout=state.limits.head_seconds if secure else None,
                ssl_shutdown_timeout=state.limits.linger_seconds if secure else None,
            )
        except (OSError, asyncio.CancelledError):
            # It left, took too long, or does not trust us; an `SSLError` is an `OSError`.
            self._socket.close()
        finally:
            self._leave()

    def _leave(self) -> None:
        self._timer.cancel()
        self._state.connections.discard(self)
