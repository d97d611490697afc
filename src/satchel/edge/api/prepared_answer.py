"""An answer that is made once, and of which clients keep a copy until it changes."""

import gzip
import hashlib

from starlette.requests import Request
from starlette.responses import Response


class Prepared:
    """The same bytes for everybody, compressed for those who take that, each form with its ETag."""

    def __init__(self, made: Response) -> None:
        plain = bytes(made.body)
        headers = {name: value for name, value in made.headers.items() if name != "content-length"}
        self._headers = {**headers, "vary": "accept-encoding"}
        self._plain = (plain, f'"{hashlib.sha256(plain).hexdigest()[:20]}"')
        # The time would change the bytes from server to server.
        packed = gzip.compress(plain, mtime=0)
        self._packed = (packed, f'"{hashlib.sha256(packed).hexdigest()[:20]}"')

    def answer(self, request: Request) -> Response:
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        body, etag = self._packed if takes_gzip else self._plain
        headers = {**self._headers, "etag": etag}
        known = request.headers.get("if-none-match", "")
        if etag in [each.strip().removeprefix("W/") for each in known.split(",")]:
            return Response(status_code=304, headers=headers)
        if takes_gzip:
            headers["content-encoding"] = "gzip"
        return Response(body, headers=headers)
