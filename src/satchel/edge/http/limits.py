"""The limits of a connection in one value: sizes, numbers and timeouts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every limit of a connection. The defaults suit a small machine on the open internet."""

    # Websockets are not counted, so that those who only listen leave the others their share.
    connections: int = 4096
    backlog: int = 1024
    address_bytes: int = 16 * 1024
    # Request line and headers together.
    head_bytes: int = 64 * 1024
    # Each header takes many times its bytes.
    headers: int = 100
    # Requests sent before earlier ones were answered.
    pipelined: int = 64
    # What connections hold together: half requests, heads and bodies under way, answers that nobody takes.
    held_bytes: int = 38 * 1024 * 1024
    head_seconds: float = 20
    keep_alive_seconds: int = 30
    # A request ends when nothing of its body arrives, or nothing of its answer is taken, for so long.
    stalled_seconds: float = 60
    # The rest of a refused request is read and dropped up to here, so that the client can read the refusal.
    linger_bytes: int = 4 * 1024 * 1024
    linger_seconds: float = 5
    shutdown_seconds: int = 20
    # Those that are being admitted included.
    websockets: int = 2_500
    # The largest frame of a websocket: drop sends bytes in such frames. Half of one counts among what is held.
    websocket_bytes: int = 1024 * 1024
    # How often a websocket is pinged, and how long its client has to answer.
    ping_seconds: float = 20
