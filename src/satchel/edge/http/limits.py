"""How much the server takes on, and how long it waits, in one value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every bound of a connection. The defaults suit a small machine on the open internet."""

    # Websockets not counted: those who only listen leave the others their share.
    connections: int = 4096
    backlog: int = 1024
    address_bytes: int = 16 * 1024
    # Request line and headers together.
    head_bytes: int = 64 * 1024
    head_seconds: float = 20
    keep_alive_seconds: int = 30
    # Silence in the middle of a body, or a reader who takes nothing, for so long ends the request.
    stalled_seconds: float = 60
    # What is left of a refused request is read and dropped up to here, so that the refusal can be read.
    linger_bytes: int = 4 * 1024 * 1024
    linger_seconds: float = 5
    shutdown_seconds: int = 20
    # What flows on a websocket comes in frames of up to this size; those who only listen allow themselves less.
    websocket_bytes: int = 1024 * 1024
    # A client is asked so often whether it is still there, and has as long to answer.
    ping_seconds: float = 20
