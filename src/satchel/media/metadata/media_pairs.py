"""Finds the files that are one photo: the two halves of a live photo, a RAW beside its JPEG.

Apple writes the same id into both halves. Without it, two files belong together if they have the same name but for the
ending, in the same folder, and were taken at about the same time.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta

from satchel.media.metadata.media_facts import MediaFacts

# What makes a photo live is a few seconds of video.
_MOST_LIVE_MS = 10_000
_APART = timedelta(seconds=15)
# A Pixel's names go on after the moment: PXL_20240131_120000123.RAW-02.ORIGINAL.dng
_PIXEL = re.compile(r"(PXL_\d{8}_\d{9})[.~].*", re.I)


def pair_key(name: str, content_id: str | None) -> str:
    """Equal for files that may belong together. `name` may have a folder before it."""
    if content_id:
        return f"content:{content_id}"
    folder, slash, base = name.rpartition("/")
    stem = base.rpartition(".")[0] or base
    pixel = _PIXEL.fullmatch(base)
    return f"stem:{folder}{slash}{(pixel[1] if pixel else stem).casefold()}"


def pairs(found: Sequence[MediaFacts]) -> Iterator[list[MediaFacts]]:
    """Each photo with all its files, the one to show first. A file without others is alone in its list."""
    groups: defaultdict[str, list[MediaFacts]] = defaultdict(list)
    for facts in found:
        groups[facts.pair_key].append(facts)
    for group in groups.values():
        stills = sorted((facts for facts in group if facts.kind != "video"), key=_shown_first)
        while group:
            shown = stills[0] if stills else group[0]
            together = [shown] + [facts for facts in group if facts is not shown and belong_together(shown, facts)]
            yield together
            group = [facts for facts in group if not any(facts is each for each in together)]
            stills = [facts for facts in stills if not any(facts is each for each in together)]


def belong_together(one: MediaFacts, other: MediaFacts) -> bool:
    if one.pair_key != other.pair_key or {one.kind, other.kind} not in ({"image", "video"}, {"image", "raw"}):
        return False
    if one.content_id and one.content_id == other.content_id:
        return True
    video = one if one.kind == "video" else other
    if video.kind == "video" and (video.duration_ms is None or video.duration_ms > _MOST_LIVE_MS):
        return False
    return _is_same_moment(one, other)


def _is_same_moment(one: MediaFacts, other: MediaFacts) -> bool:
    if one.time is None or other.time is None:
        return False
    if one.time.utc is not None and other.time.utc is not None and abs(one.time.utc - other.time.utc) <= _APART:
        return True
    return abs(one.time.local - other.time.local) <= _APART


def _shown_first(facts: MediaFacts) -> tuple[bool, str]:
    return facts.kind == "raw", facts.name
