"""Tells people from robots, and looks from what is fetched beforehand, so that only the visits of people count."""

import re
from collections.abc import Mapping

# What robots call themselves. Most say what they are; the rest are those that draw previews of links in chats and
# mails under a name. Browsers inside an app (such as `FBAN`, `Telegram-Android`, `Snapchat`) are people.
_ROBOTS = re.compile(
    # A maker of telephones is called Cubot, and a browser for developers Technology Preview.
    r"(?<!cu)bots?\b|crawl|spider|slurp|scrape|archiver|validator|(?<!technology )preview|unfurl|opengraph"
    r"|externalhit|meta-external|facebookcatalog|whatsapp/|embedly|iframely|vkshare|line-poker|kakaotalk-scrap"
    r"|slack-imgproxy|skypeuri|microsoft office|ms-office|google-\w|googleother|feedfetcher"
    r"|mediapartners|mastodon/|pleroma|akkoma|misskey|bitlyb|metainspector|linkcheck|barracuda|proofpoint|mimecast",
    re.IGNORECASE,
)
# How browsers mark a prefetch.
_PURPOSES = ("sec-purpose", "purpose", "x-purpose", "x-moz")
_BEFOREHAND = re.compile("prefetch|prerender|preview", re.IGNORECASE)


def is_robot(headers: Mapping[str, str]) -> bool:
    """Whether a request with these headers, named in lower case, is from a robot."""
    return _ROBOTS.search(headers.get("user-agent", "")) is not None


def is_beforehand(headers: Mapping[str, str]) -> bool:
    """Whether a browser or a page asks for what somebody may look at next, and nobody looks at now."""
    return any(_BEFOREHAND.search(headers.get(name, "")) for name in _PURPOSES)
