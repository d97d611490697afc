"""Follow links that a server has signed to a bucket. Nobody there learns who we are."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from urllib.parse import urlsplit

from satchel.cli.engine.http.failures import Unreachable, explain, is_lost
from satchel.cli.engine.http.http_connection import BodyFailed, ServerConnections, StreamedAnswer

# Asked for with every download, and said again by a server that leads us elsewhere.
PREFERENCE = {"prefer": "signed-link"}
_APPLIED = "preference-applied"


class BucketLinks:
    """The buckets of one server. Where none answers, the rest comes through the server."""

    def __init__(self) -> None:
        self._connections: dict[str, ServerConnections] = {}
        self.are_followed = True

    @property
    def preference(self) -> Mapping[str, str]:
        """The header by which the server learns that links are followed."""
        return PREFERENCE if self.are_followed else {}

    @staticmethod
    def led_to(answer: StreamedAnswer) -> str | None:
        """Where an answer leads to, if that is a signed link."""
        return answer.headers.get("location") if answer.headers.get(_APPLIED) == PREFERENCE["prefer"] else None

    def put(self, url: str, size_bytes: int, content: Iterator[bytes], timeout_seconds: float) -> None:
        origin, path = _split(url)
        headers = {"content-length": str(size_bytes)}
        try:
            with _explained(origin):
                answered = self._to(origin).request("PUT", path, headers, content, timeout_seconds)
        except BodyFailed as failed:
            raise failed.error from failed
        if not answered.is_success:
            raise Unreachable(f"{origin} does not take what it was sent (status {answered.status}).")

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str], timeout_seconds: float) -> Generator[StreamedAnswer]:
        """An answer whose body the block reads."""
        origin, path = _split(url)
        with ExitStack() as stack:
            try:
                with _explained(origin):
                    opened = self._to(origin).stream("GET", path, headers, None, timeout_seconds)
                    answer = stack.enter_context(opened)
                if not 200 <= answer.status < 300:
                    raise Unreachable(f"{origin} does not answer with the file (status {answer.status}).")
            except Unreachable:
                self.are_followed = False
                raise
            yield answer

    def close(self) -> None:
        for connections in self._connections.values():
            connections.close()

    def _to(self, origin: str) -> ServerConnections:
        return self._connections.setdefault(origin, ServerConnections(origin))


@contextmanager
def _explained(origin: str) -> Generator[None]:
    try:
        yield
    except (OSError, HTTPException) as error:
        raise Unreachable(explain(error, origin), answer_lost=is_lost(error)) from error


def _split(url: str) -> tuple[str, str]:
    """The origin of a link, and the rest of it."""
    target = urlsplit(url)
    return f"{target.scheme}://{target.netloc}", target._replace(scheme="", netloc="").geturl()
