"""Session-wide real services, each started when the first test asks for it."""

import gc
import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import settings

from tests.services import S3Server, dynamodb_local, moto_server, rclone_s3, redis_server


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# A shell ignores Ctrl-C in what it starts in the background, and every program that a test starts would inherit that.
# It is not Python's own handler: each event loop would replace that by one of its own, which Python writes out in full,
# with every object that the test holds, to see whether it is a number.
signal.signal(signal.SIGINT, _interrupted)

# To look for cycles seldom, and never among what was imported, takes a tenth off the run.
gc.set_threshold(50_000, 10, 10)

# How long an example takes says something of the machine only. CI tries the same examples each time, so that only a
# change can fail it; what is found elsewhere becomes an `@example`.
settings.register_profile("satchel", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("satchel")
settings.register_profile("quick", deadline=None, max_examples=10)


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "where all journeys in a browser are served from; else from embedded stores, and the first ones from both"
    parser.addoption("--stores", choices=["embedded", "distributed"], help=about)


@pytest.fixture(scope="session")
def dynamodb_endpoint() -> Iterator[str]:
    with dynamodb_local() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def moto_endpoint() -> Iterator[str]:
    with moto_server() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with rclone_s3() as server:
        yield server


_SERVICE_FIXTURES = {"dynamodb_endpoint", "redis_url", "moto_endpoint", "s3"}
# Here whole programs are started, and killed, again and again.
_SLOW_FOLDERS = {"cli", "faults", "server"}
# Here connections are slow, or given up, on purpose; or something is cut off, or crossed, at every one of its steps.
_SLOW_FILES = {
    "test_album_interruptions.py",
    "test_both_halves.py",
    "test_connections.py",
    "test_door.py",
    "test_download_grants.py",
    "test_ephemeral_conformance_waiting.py",
    "test_http_connection.py",
    "test_interruptions.py",
    "test_photo_interruptions.py",
    "test_races.py",
    "test_relay.py",
    "test_relay_requests.py",
    "test_upload_finish.py",
    "test_upload_resume.py",
    "test_sendfile.py",
    "test_server.py",
    "test_splice.py",
    "test_table_dynamodb.py",
    "test_tree_interruptions.py",
    "test_websocket_protocol.py",
}
# The files that take the longest.
_LONG = ("/browser/", "/faults/", "/server/", "/cli/", "_differential.py", "/test_objects_transfers.py", "_dynamodb.py")


def _turn(item: pytest.Item) -> tuple[bool, str, str]:
    """Long files begin first, lest one worker is left with one at the end; by name, lest all begin with a browser."""
    path = item.path.as_posix()
    is_long = any(part in path for part in _LONG)
    return not is_long, item.path.name if is_long else "", path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What uses a service, or takes its time, is marked so, and `make quick` leaves it out."""
    items.sort(key=_turn)
    for item in items:
        if _SERVICE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.services)
        if item.path.parent.name in _SLOW_FOLDERS or item.path.name in _SLOW_FILES:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    gc.freeze()


# More than these are no accident.
_FEW_FAILURES = 5


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI, `make again` has something to run only after a whole run with few failures (decision 17)."""
    whole = exitstatus == pytest.ExitCode.TESTS_FAILED and session.testsfailed <= _FEW_FAILURES
    keeps_failures = hasattr(session.config, "cache") and not hasattr(session.config, "workerinput")
    if "CI" in os.environ and keeps_failures and not whole:
        session.config.cache.set("cache/lastfailed", {})
