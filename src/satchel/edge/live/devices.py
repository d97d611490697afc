"""A short name for somebody's device, as others see it, made of its `User-Agent`."""

import re

_BROWSERS = (
    (re.compile(r"Edg(e|A|iOS)?/"), "Edge"),
    (re.compile(r"OPR/"), "Opera"),
    (re.compile(r"SamsungBrowser/"), "Samsung Internet"),
    (re.compile(r"Firefox/|FxiOS/"), "Firefox"),
    (re.compile(r"Chrome/|CriOS/"), "Chrome"),
    (re.compile(r"Safari/"), "Safari"),
)
_SYSTEMS = (
    (re.compile(r"iPhone"), "iPhone"),
    (re.compile(r"iPad"), "iPad"),
    (re.compile(r"Android"), "Android"),
    (re.compile(r"Windows"), "Windows"),
    (re.compile(r"Mac OS X|Macintosh"), "macOS"),
    (re.compile(r"CrOS"), "ChromeOS"),
    (re.compile(r"Linux"), "Linux"),
)


def device_of(user_agent: str) -> str:
    """Such as "Firefox on Android". The `User-Agent` itself would tell others too much."""
    if re.match(r"satchel\b", user_agent):
        return "Command line"
    browser = _first(_BROWSERS, user_agent) or "Browser" if user_agent.startswith("Mozilla/") else "Program"
    system = _first(_SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first(known: tuple[tuple[re.Pattern[str], str], ...], user_agent: str) -> str:
    return next((name for pattern, name in known if pattern.search(user_agent)), "")
