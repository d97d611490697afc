"""The script that a page includes to count: one address for each version, which never changes afterwards.

Pages name the hash of the script beside its address, so a browser refuses any other bytes there. A changed script gets
a file and a number of its own, and the old ones stay.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response

from satchel.edge.api.endpoints import Router

SCRIPT_PATH = "/counter/1.js"
_FILE = Path(__file__).with_name("counter_1.js")
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",
    # To check the hash, a browser has to be allowed to read the script from a page of another site.
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}


def routes() -> Router:
    router = Router("counters", prefix="")

    @router.get(SCRIPT_PATH)
    async def script() -> Response:
        """The script that counts on a page."""
        return Response(_source(), media_type="text/javascript", headers=_HEADERS)

    return router


@cache
def integrity() -> str:
    """The hash that pages name beside the address of the script."""
    return f"sha384-{base64.b64encode(hashlib.sha384(_source()).digest()).decode('ascii')}"


@cache
def _source() -> bytes:
    return _FILE.read_bytes()
