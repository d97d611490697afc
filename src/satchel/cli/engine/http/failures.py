"""Why a request failed, in one sentence that says what to do next."""

import socket
import ssl
from collections.abc import Iterator
from http.client import HTTPException, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import msgspec

from satchel.cli.engine.terminal.output import CommandFailed

_NOBODY_KNOWS = {502, 504}


class Problem(msgspec.Struct, frozen=True):
    """Why a server did not do something (RFC 9457). By hand, because only `detail` is demanded."""

    detail: str
    type: str = "about:blank"
    # Of a proof of work that is asked for.
    challenge: str = ""
    bits: int = 0

    @property
    def slug(self) -> str:
        return self.type.rpartition("#")[2]


class Refused(CommandFailed):
    """The server understood and said no; `slug` is the stable name of its reason, `after_seconds` when to ask again."""

    def __init__(self, detail: str, slug: str, status: int, after_seconds: int = 0) -> None:
        super().__init__(detail)
        self.slug = slug
        self.status = status
        self.after_seconds = after_seconds


class WorkAsked(Refused):
    """The server wants a proof of work before it goes on: others at our address have guessed too often."""

    def __init__(self, problem: Problem, status: int, after_seconds: int) -> None:
        super().__init__(problem.detail, problem.slug, status, after_seconds)
        self.problem = problem


class Unreachable(CommandFailed):
    """Nothing answers at the address, or what answers is no Satchel.

    `answer_lost`: it had answered, and the connection broke before the answer to this was whole.
    """

    def __init__(self, sentence: str, *, answer_lost: bool = False) -> None:
        super().__init__(sentence)
        self.answer_lost = answer_lost


def is_lost(error: Exception) -> bool:
    """Whether the request may have arrived."""
    return any(isinstance(cause, ConnectionResetError | BrokenPipeError | IncompleteRead) for cause in _causes(error))


def may_be_done(error: Refused | Unreachable) -> bool:
    """Whether what was asked for may have been done all the same: a proxy, or a server that stops, does not know."""
    if isinstance(error, Unreachable):
        return error.answer_lost
    return error.status in _NOBODY_KNOWS or error.slug == "shutting-down"


def no_http(server: str) -> str:
    return f"The program at {server} is not a Satchel server. Check the address."


def explain(error: Exception, server: str) -> str:
    """In one sentence, with what to do next."""
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return (
                    f"The certificate of {server} cannot be trusted: {cause.verify_message}. If it was made by an "
                    "authority of your own, name that authority's file in SSL_CERT_FILE."
                )
            case ssl.SSLError():
                return f"{server} does not answer in TLS. If it has no certificate, its address begins with http://."
            case socket.gaierror():
                return f"There is no machine called {urlsplit(server).hostname}. Check the address {server}."
            case ConnectionRefusedError():
                return (
                    f"Nothing answers at {server}. Start a server there with `satchel serve`, "
                    "or name another with --server."
                )
            case TimeoutError():
                return f"{server} does not answer. Check the address and the network, then try again."
            case _:
                continue
    if isinstance(error, HTTPException) and not isinstance(error, OSError):
        return no_http(server)
    return f"The connection to {server} failed: {error}."


def _causes(error: BaseException | None) -> Iterator[Any]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
