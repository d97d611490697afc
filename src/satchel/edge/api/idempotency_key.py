"""The header `Idempotency-Key`: how a client says that a request which it has to repeat shall be done once."""

import re
from typing import TYPE_CHECKING

from satchel.edge.http.problems import bad_header
from satchel.stores.patterns.idempotency_key import KEY_PATTERN

if TYPE_CHECKING:
    from starlette.requests import Request

HEADER = "Idempotency-Key"


def idempotency_key_of(request: "Request") -> str | None:
    """The key that came with a request, if any."""
    key = request.headers.get(HEADER)
    if key is not None and not re.fullmatch(KEY_PATTERN, key):
        raise bad_header(HEADER, "1 to 100 letters, digits, - and _")
    return key
