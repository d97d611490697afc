"""What a page says of itself to programs that do not run it, such as chats that show a link with title and picture."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from satchel.edge.http.request_context import header
from satchel.kernel.markup import escape

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from satchel.edge.files.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """Title, sentence, and the path of a picture, if there is one."""

    title: str
    description: str
    picture: str = ""

    def tags(self, address: str) -> bytes:
        properties = {"og:site_name": "Satchel", "og:title": self.title, "og:description": self.description}
        if self.picture:
            properties["og:image"] = address + self.picture
        named = {
            "description": self.description,
            "robots": "noindex",
            "twitter:card": "summary_large_image" if self.picture else "summary",
        }
        lines = [
            f"<title>{escape(self.title)}</title>",
            *(f'<meta property="{name}" content="{escape(value)}" />' for name, value in properties.items()),
            *(f'<meta name="{name}" content="{escape(value)}" />' for name, value in named.items()),
        ]
        return "\n    ".join(lines).encode()


# Given the rest of the path and the request. None if nothing may be said.
Summarize = Callable[[str, "Scope"], Awaitable[PageSummary | None]]


class SummarizedSite:
    """The site, whose pages below some paths say what they are. To browsers they do not: the app asks by itself."""

    def __init__(self, site: "Site", summaries: Mapping[str, Summarize], public_url: str) -> None:
        self._site, self._summaries, self._public_url = site, summaries, public_url

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        _, first, rest = f"{scope['path']}/".split("/", 2)
        summarize = self._summaries.get(first)
        summary = None
        # Browsers send this header, and nobody else does.
        if summarize is not None and header(scope, b"sec-fetch-mode") is None:
            summary = await summarize(rest.strip("/"), scope)
        if summary is None:
            await self._site(scope, receive, send)
            return
        body, headers = self._site.shell_with(summary.tags(self._public_url or _address(scope)))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _address(scope: "Scope") -> str:
    return f"{scope['scheme']}://{(header(scope, b'host') or b'').decode('latin-1')}"
