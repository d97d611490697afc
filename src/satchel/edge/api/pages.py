"""The few pages that the server renders itself: no script, one stylesheet, readable on any screen."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from starlette.responses import Response

from satchel.edge.http.problems import ProblemKind
from satchel.kernel.errors import NotFound
from satchel.kernel.markup import escape

_STYLE = Path(__file__).with_name("pages.css").read_bytes()
_STYLE_NAME = f"pages-{hashlib.sha256(_STYLE).hexdigest()[:12]}.css"
STYLE_PATH = f"/assets/{_STYLE_NAME}"
PAGE_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def asset(name: str) -> Response:
    """The stylesheet. Its name changes with its content, so it can be cached for ever."""
    if name != _STYLE_NAME:
        raise NotFound("There is nothing at this address.")
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(_STYLE, media_type="text/css", headers=headers)


def page(title: str, body: str, *, language: str = "en", policy: str = PAGE_POLICY) -> Response:
    """A whole page around a body of HTML."""
    document = (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<link rel="stylesheet" href="{STYLE_PATH}">\n</head>\n<body>\n{body}\n</body>\n</html>\n'
    )
    headers = {"content-security-policy": policy, "cache-control": "no-cache"}
    return Response(document, media_type="text/html", headers=headers)


def prose(text: str) -> str:
    """Plain text as HTML: paragraphs at empty lines, `code` in backticks."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return "".join(f"<p>{code_marked(paragraph)}</p>" for paragraph in paragraphs)


def code_marked(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def problems_page(kinds: Sequence[ProblemKind]) -> Response:
    entries = "\n".join(
        f'<section class="card" id="{escape(kind.slug)}">'
        f'<h2><span class="status s{kind.status // 100}">{kind.status}</span> '
        f'<a class="anchor" href="#{escape(kind.slug)}"><code>{escape(kind.slug)}</code></a></h2>'
        f"<p><strong>{escape(kind.title)}.</strong> {code_marked(kind.about)}</p></section>"
        for kind in kinds
    )
    body = f"""<header><p><a href="/">Satchel</a></p><h1>Problems</h1>
<p>When something is refused or fails, the answer is <code>application/problem+json</code>. Its <code>type</code>
leads here; its <code>detail</code> says what to do; its <code>instance</code> is the request to name in a report.</p>
</header>
<main>
{entries}
</main>"""
    return page("Problems · Satchel", body)
