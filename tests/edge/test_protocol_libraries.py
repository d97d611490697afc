"""What the protocols assume of httptools and websockets, one fact a test, so that an upgrade fails by its name."""

import subprocess
import sys

import httptools
import pytest
from websockets.exceptions import InvalidState
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

GET = b"GET /path?query HTTP/1.1\r\nHost: satchel.test\r\n\r\n"
UPGRADE = GET[:-2] + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n"
HANDSHAKE = UPGRADE[:-2] + b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"


class Heard:
    """What a parser has called, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def on_message_begin(self) -> None:
        self.calls.append(("begin",))

    def on_url(self, url: bytes) -> None:
        self.calls.append(("url", url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self.calls.append(("header", name, value))

    def on_headers_complete(self) -> None:
        self.calls.append(("head",))

    def on_body(self, body: bytes) -> None:
        self.calls.append(("body", body))

    def on_message_complete(self) -> None:
        self.calls.append(("end",))


class Failing(Heard):
    def on_headers_complete(self) -> None:
        raise ValueError


def parse(*pieces: bytes, heard: Heard | None = None) -> tuple[httptools.HttpRequestParser, list[tuple[object, ...]]]:
    heard = heard or Heard()
    parser = httptools.HttpRequestParser(heard)
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    for piece in pieces:
        parser.feed_data(piece)
    return parser, heard.calls


def test_httptools_calls_in_the_order_of_the_request() -> None:
    parser, calls = parse(GET)
    head = [("begin",), ("url", b"/path?query"), ("header", b"Host", b"satchel.test"), ("head",), ("end",)]
    assert calls == head
    assert (parser.get_method(), parser.get_http_version(), parser.should_keep_alive()) == (b"GET", "1.1", True)


def test_httptools_gives_a_header_that_came_in_pieces_as_a_whole() -> None:
    _, calls = parse(GET[:35], GET[35:])
    assert ("header", b"Host", b"satchel.test") in calls


def test_httptools_turns_an_exception_of_ours_into_its_own_error() -> None:
    with pytest.raises(httptools.HttpParserError):
        parse(GET, heard=Failing())


def test_httptools_ignores_what_follows_a_request_that_ends_the_connection() -> None:
    _, calls = parse(GET[:-2] + b"connection: close\r\n\r\n" + GET)
    assert calls.count(("head",)) == 1


def test_httptools_stops_at_an_upgrade_and_says_where_the_rest_begins() -> None:
    with pytest.raises(httptools.HttpParserUpgrade) as stopped:
        parse(UPGRADE + b"rest")
    assert stopped.value.args[0] == len(UPGRADE)


@pytest.mark.parametrize(
    "smuggled",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        b"transfer-encoding: identity, chunked, x\r\n\r\n",
        b"x: a\n b\r\n\r\n",
        b"x : a\r\n\r\n",
    ],
)
def test_httptools_refuses_what_two_servers_could_read_differently(smuggled: bytes) -> None:
    with pytest.raises(httptools.HttpParserError):
        parse(GET[:-2].replace(b"GET", b"POST") + smuggled)


def shaken() -> ServerProtocol:
    protocol = ServerProtocol(max_size=100)
    protocol.receive_data(HANDSHAKE)
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    assert request.path == "/path?query"
    protocol.send_response(protocol.accept(request))
    assert b"".join(protocol.data_to_send()).startswith(b"HTTP/1.1 101 ")
    return protocol


def from_client(opcode: Opcode, data: bytes, *, fin: bool = True) -> bytes:
    return Frame(opcode, data, fin).serialize(mask=True)


def test_websockets_gives_frames_as_they_came() -> None:
    protocol = shaken()
    protocol.receive_data(from_client(Opcode.TEXT, b"one", fin=False) + from_client(Opcode.CONT, b"two"))
    frames = [event for event in protocol.events_received() if isinstance(event, Frame)]
    assert [(frame.opcode, bytes(frame.data), frame.fin) for frame in frames] == [
        (Opcode.TEXT, b"one", False),
        (Opcode.CONT, b"two", True),
    ]
    assert not protocol.close_expected()


def test_websockets_answers_a_ping_by_itself() -> None:
    protocol = shaken()
    protocol.receive_data(from_client(Opcode.PING, b"there?"))
    assert b"there?" in b"".join(protocol.data_to_send())


def test_websockets_answers_a_close_by_itself() -> None:
    protocol = shaken()
    protocol.receive_data(from_client(Opcode.CLOSE, Close(1001, "bye").serialize()))
    (frame,) = protocol.events_received()
    assert isinstance(frame, Frame)
    assert Close.parse(frame.data) == Close(1001, "bye")
    assert b"".join(protocol.data_to_send())
    assert protocol.close_expected()


@pytest.mark.parametrize(
    "wrong", [from_client(Opcode.TEXT, b"x" * 101), Frame(Opcode.TEXT, b"unmasked").serialize(mask=False)]
)
def test_websockets_tells_by_close_expected_that_a_client_broke_the_rules(wrong: bytes) -> None:
    protocol = shaken()
    protocol.receive_data(wrong)
    assert protocol.close_expected()
    assert b"".join(protocol.data_to_send())


def test_websockets_refuses_to_send_after_a_close() -> None:
    protocol = shaken()
    protocol.send_close(1000)
    with pytest.raises(InvalidState):
        protocol.send_text(b"too late")


@pytest.mark.parametrize("missing", [b"sec-websocket-key", b"sec-websocket-version"])
def test_websockets_answers_a_handshake_that_is_not_one_with_a_refusal(missing: bytes) -> None:
    protocol = ServerProtocol()
    protocol.receive_data(HANDSHAKE.replace(missing, b"x-other"))
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    assert protocol.accept(request).status_code in (400, 426)


def test_the_server_needs_nothing_of_uvicorn() -> None:
    program = (
        "import satchel.edge.http.server, satchel.edge.http.websocket_protocol\n"
        "import sys\n"
        "print('uvicorn' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "False\n")
