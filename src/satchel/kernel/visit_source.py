"""Where a visit comes from, as coarsely as figures need it: the host of the page before, and the kind of device."""

import re
from urllib.parse import urlsplit

from satchel.kernel.counted import Device

MAX_REFERRER_CHARACTERS = 2048
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_LONGEST_HOST = 253
_TABLET = re.compile(r"ipad|tablet|kindle|silk/|playbook|android(?!.*mobile)", re.IGNORECASE)
_PHONE = re.compile(r"mobi|iphone|ipod|android|windows phone", re.IGNORECASE)


def device_of(agent: str) -> Device:
    """By what the browser calls itself. An iPad that asks for desktop pages calls itself a Mac, and counts as one."""
    if _TABLET.search(agent):
        return "tablet"
    return "phone" if _PHONE.search(agent) else "computer"


def referrer_host(written: str, own_host: str = "") -> str | None:
    """The host of the page from which somebody came; None for none, for our own pages and for what is no web page."""
    try:
        parts = urlsplit(written.strip())
        host = (parts.hostname or "").rstrip(".").encode("idna").decode("ascii")
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in ("http", "https") or len(host) > _LONGEST_HOST or not _HOST.fullmatch(host):
        return None
    return None if host == own_host.lower() else host
