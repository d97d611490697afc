"""What time it was where an answer of AWS came from."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any


def time_of(answer: Mapping[str, Any]) -> float | None:
    """The seconds since 1970, whole ones, by the header that HTTP has for it; None without one."""
    date = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    try:
        return None if date is None else parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None
