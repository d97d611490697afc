"""The web app: its built files, compressed or not, and the one page that renders every address of the app."""

import base64
import hashlib
import re
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.edge.http.request_context import header
from satchel.kernel.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_SHELL = "/index.html"
# Workers have a policy of their own: they may fetch, and nothing else.
_WORKERS = ("/service-worker.js", "/_app/immutable/workers/")
# Names in here change with their content.
_IMMUTABLE = "/_app/immutable/"
_ENCODINGS = ((b"br", ".br"), (b"gzip", ".gz"))
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_TITLE = b"<title>Satchel</title>"
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
# SvelteKit sets this style on the hidden line that announces pages to screen readers. No other may stand inline.
_ANNOUNCER_STYLE = "'sha256-S8qMpvofolR8Mpjy4kQvEm7m1q8clzU4dfDH0AmvZjo='"
# Addresses of programs. A missing one is answered with a problem, not with the page of the app.
_NOT_PAGES = frozenset({"api", "assets", "objects", "_app", ".well-known"})


@dataclass(frozen=True, slots=True)
class _Body:
    content: bytes
    etag: bytes


@dataclass(frozen=True, slots=True)
class _File:
    """One file in its encodings. The plain form always exists."""

    forms: dict[bytes, Path]
    headers: list[tuple[bytes, bytes]]
    _read: dict[bytes, _Body] = field(default_factory=dict[bytes, _Body])

    def body(self, encoding: bytes) -> _Body:
        """Read when it is first asked for, and kept: a start reads no script, and nothing is held that nobody loads."""
        if (body := self._read.get(encoding)) is None:
            content = self.forms[encoding].read_bytes()
            body = self._read[encoding] = _Body(content, b'"%b"' % hashlib.sha256(content).hexdigest()[:20].encode())
        return body


class Site:
    """An ASGI application that answers GET and HEAD of every address without a route.

    Its pages may show images of one other origin, and send files to another, if these are named.
    """

    def __init__(self, folder: Path, images_from: str = "", sends_to: str = "") -> None:
        shell = folder / "index.html"
        if not shell.exists():
            raise Unavailable("The web app is not built. Run `make install`, or install Satchel from its package.")
        policy = page_policy(shell.read_bytes(), images_from, sends_to)
        paths = set(folder.rglob("*"))
        self._files = {
            f"/{path.relative_to(folder).as_posix()}": _file(path, paths, folder, policy)
            for path in paths
            if path.suffix in _TYPES
        }

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        file = self._find(scope["path"])
        encoding = _best(header(scope, b"accept-encoding") or b"", file.forms)
        body = file.body(encoding)
        headers = [*file.headers, (b"etag", body.etag)]
        if body.etag in (header(scope, b"if-none-match") or b""):
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        if encoding:
            headers.append((b"content-encoding", encoding))
        headers.append((b"content-length", b"%d" % len(body.content)))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body.content})

    def shell_with(self, tags: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """The one page with other tags in place of its title, and its headers."""
        shell = self._files[_SHELL]
        body = shell.body(b"").content.replace(_TITLE, tags, 1)
        kept = [each for each in shell.headers if each[0] not in (b"cache-control", b"vary")]
        return body, [*kept, (b"cache-control", b"no-store"), (b"content-length", b"%d" % len(body))]

    def _find(self, path: str) -> _File:
        if (file := self._files.get(path)) is not None:
            return file
        if path.split("/")[1] in _NOT_PAGES or "." in path.rpartition("/")[2]:
            raise NotFound("There is nothing at this address.")
        return self._files[_SHELL]


def page_policy(shell: bytes, images_from: str = "", sends_to: str = "") -> str:
    """What the page may load and run: its own files, and the scripts that were built into it, by their hashes."""
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _INLINE_SCRIPT.findall(shell)]
    images = " ".join(filter(None, ["'self'", "blob:", "data:", images_from]))
    connected = " ".join(filter(None, ["'self'", sends_to]))
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self'; "
        f"style-src-attr 'unsafe-hashes' {_ANNOUNCER_STYLE}; img-src {images}; "
        f"media-src 'self' blob:; frame-src 'self'; font-src 'self'; connect-src {connected}; manifest-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def _file(path: Path, paths: Container[Path], folder: Path, policy: str) -> _File:
    twins = ((encoding, path.with_name(path.name + suffix)) for encoding, suffix in _ENCODINGS)
    forms = {b"": path, **{encoding: twin for encoding, twin in twins if twin in paths}}
    address = f"/{path.relative_to(folder).as_posix()}"
    kept = "public, max-age=31536000, immutable" if address.startswith(_IMMUTABLE) else "no-cache"
    headers = [
        (b"content-type", _TYPES[path.suffix].encode("ascii")),
        (b"cache-control", kept.encode("ascii")),
        (b"vary", b"accept-encoding"),
    ]
    if path.suffix == ".html":
        headers.append((b"content-security-policy", policy.encode("ascii")))
    if address.startswith(_WORKERS):
        headers.append((b"content-security-policy", b"default-src 'none'; connect-src 'self'"))
    return _File(forms, headers)


def _best(accepted: bytes, offered: Container[bytes]) -> bytes:
    """The smallest encoding that the client accepts. `q=0` means that it does not."""
    taken = {
        part.partition(b";")[0].strip()
        for part in accepted.lower().split(b",")
        if part.replace(b" ", b"").partition(b";q=")[2] not in (b"0", b"0.0", b"0.00", b"0.000")
    }
    return next((encoding for encoding, _ in _ENCODINGS if encoding in taken and encoding in offered), b"")
