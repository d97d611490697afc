"""Pictures over HTTP: one address for each size and version, which browsers may keep for ever."""

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.files.downloads import Download
from satchel.edge.files.previews import PREVIEW_POLICY, is_look
from satchel.kernel.robots import is_beforehand
from satchel.media.pictures import NoPicture, PictureNotReady, Pictures, Source
from satchel.media.records import SIZES

# What a route that answers with a picture can raise, besides what finding the file can.
RAISES = (NoPicture,)
BYTES = "application/octet-stream"
# The status while a picture is being made.
PENDING = 202
# What is at an address never changes, since the version is a part of it. It is for this browser only.
_FOR_EVER = "private, max-age=31536000, immutable"
# Fetched beforehand, it is kept, too, but showing it asks again, so that somebody's first look is heard of.
_UNTIL_SHOWN = "private, no-cache"
_LATER = {"retry-after": "2", "cache-control": "no-store"}


async def picture_answer(
    pictures: Pictures, source: Source, size: str, version: str, request: Request | None = None
) -> Response:
    """One size of the picture of a file that the caller may see; 202 while it is being made.

    Where looking counts, by this request.
    """
    try:
        key, found = await pictures.find(source, size, version)
    except PictureNotReady:
        # Not an error: browsers would write one into their console for each picture of a new folder.
        return Response(status_code=PENDING, headers=_LATER)
    return Download(
        pictures.objects,
        key,
        disposition="inline",
        cache=_UNTIL_SHOWN if request and is_beforehand(request.headers) else _FOR_EVER,
        content_type=SIZES[found],
        policy=PREVIEW_POLICY,
    )


def is_view(request: Request, size: str, answer: Response) -> bool:
    """Whether somebody looks at the file: at the larger size, and not only in a list."""
    return size == "preview" and is_look(request) and isinstance(answer, Download)
