"""Previews: which files a browser may show, and as what. The declared type proposes, the first bytes decide.

Nothing here is ever served as HTML, SVG or a script, whatever it calls itself: text is shown as plain text, and of the
other kinds only types whose first bytes prove them.
"""

import mimetypes
import re
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.files.downloads import Download, Readable
from satchel.kernel.errors import Invalid
from satchel.kernel.robots import is_beforehand
from satchel.stores.ports.objects import DEFAULT_TYPE

Preview = Literal["image", "audio", "video", "pdf", "text"]

# How much of a file is examined. The signatures of all types below lie within.
HEAD_BYTES = 4096
MAX_TEXT_BYTES = 1024 * 1024
TEXT_TYPE = "text/plain; charset=utf-8"
# Sandboxed, a document has no origin, runs nothing and loads nothing. Only our own pages may put it into a frame.
PREVIEW_POLICY = (
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
)
# Browsers refuse to start their PDF viewer in a sandbox. It is one itself, and the type is certain.
PDF_POLICY = PREVIEW_POLICY.replace("sandbox; ", "").replace(
    "default-src 'none'", "default-src 'none'; object-src 'self'"
)

# Without the lists of this machine, so that a file is of the same type on every server.
_by_extension = mimetypes.MimeTypes(filenames=())
for _extension in (
    *("md", "markdown", "rst", "tex", "log", "ini", "cfg", "conf", "toml", "yaml", "yml", "srt", "vtt", "ics", "abc"),
    *("ly", "diff", "patch", "ts", "tsx", "jsx", "svelte", "rs", "go", "java", "kt", "swift", "rb", "sql"),
):
    _by_extension.add_type("text/plain", f".{_extension}")
_TEXT_TOO = re.compile(
    r"application/(.*\+)?(json|xml|yaml|x-yaml|toml|javascript|x-javascript|x-sh|sql|x-tex|x-httpd-php|rtf)|image/svg\+xml"
)
_SHOWN_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/x-ms-bmp"}
_MARKS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(mark, re.DOTALL), content_type)
    for mark, content_type in (
        (rb"\x89PNG\r\n\x1a\n", "image/png"),
        (rb"\xff\xd8\xff", "image/jpeg"),
        (rb"GIF8[79]a", "image/gif"),
        (rb"RIFF....WEBP", "image/webp"),
        (rb"....ftypavi[fs]", "image/avif"),
        (rb"BM....\0\0\0\0", "image/bmp"),
        (rb"%PDF-", "application/pdf"),
        (rb"ID3|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]", "audio/mpeg"),
        (rb"\xff[\xf0\xf1\xf8\xf9]", "audio/aac"),
        (rb"RIFF....WAVE", "audio/wav"),
        (rb"fLaC", "audio/flac"),
        (rb"OggS.{24,280}?(\x01vorbis|OpusHead|\x7fFLAC)", "audio/ogg"),
        (rb"OggS", "video/ogg"),
        (rb"....ftypM4[AB]", "audio/mp4"),
        (rb"....ftyp", "video/mp4"),
        (rb"\x1a\x45\xdf\xa3", "video/webm"),
    )
)


class NoPreview(Invalid):
    """The file has no safe preview, or its bytes are not what its type says. Download it instead."""

    slug = "no-preview"
    title = "This file cannot be shown here"


async def preview(objects: Readable, key: str, name: str, content_type: str) -> Response:
    """A download that the browser shows. Whatever the object is, it cannot run anything."""
    wanted = preview_of(name, content_type)
    if wanted is None:
        raise NoPreview("Files of this type have no preview. Download it instead.")
    async with objects.read(key, length=MAX_TEXT_BYTES if wanted == "text" else HEAD_BYTES) as reading:
        start = b"".join([piece async for piece in reading])
    shown = shown_type(wanted, start[:HEAD_BYTES])
    if shown is None:
        raise NoPreview("The file is not what its type says. Download it instead.")
    policy = PDF_POLICY if shown == "application/pdf" else PREVIEW_POLICY
    if wanted != "text":
        return Download(objects, key, disposition="inline", content_type=shown, policy=policy)
    headers = {
        "content-disposition": "inline",
        "content-security-policy": policy,
        "cache-control": "private, no-cache",
        "content-type": shown,
    }
    # A letter that is cut in the middle shows as one replacement character, like every byte that is no text.
    return Response(start.decode(errors="replace").encode(), headers=headers)


def is_look(request: Request) -> bool:
    """Whether somebody looks now, and not a browser that fetches ahead what they may look at next."""
    return request.method == "GET" and not is_beforehand(request.headers)


def preview_of(name: str, content_type: str) -> Preview | None:
    """The kind of preview that the declared type and the name propose."""
    declared = content_type.partition(";")[0].strip().lower()
    if declared == DEFAULT_TYPE:
        declared = _by_extension.guess_type(name, strict=False)[0] or ""
    family = declared.partition("/")[0]
    if declared == "application/pdf":
        return "pdf"
    if family == "text" or _TEXT_TOO.fullmatch(declared):
        return "text"
    if declared in _SHOWN_IMAGES:
        return "image"
    return family if family in ("audio", "video") else None


def shown_type(wanted: Preview, head: bytes) -> str | None:
    """The type under which bytes that begin so may be shown as the wanted kind; None if they are something else."""
    if wanted == "text":
        return None if b"\0" in head else TEXT_TYPE
    found = next((content_type for mark, content_type in _MARKS if mark.match(head)), None)
    if found is None:
        return None
    family = "pdf" if found == "application/pdf" else found.partition("/")[0]
    # The same containers hold sound and video, and neither is more dangerous.
    is_wanted = family == wanted or {family, wanted} == {"audio", "video"}
    return found if is_wanted else None
