"""When notes sound, by Verovio: where in its bar each one is, and what a player plays."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from satchel.media.decoders.scores.svg_clean import CleanPage

# Music that is repeated has its elements again, under names with this ending.
_REPEATED = re.compile(r"-rend\d+\Z")
MAX_NOTES = 200_000


@dataclass(frozen=True)
class Times:
    """Of each note and rest, the bar in which it stands and how many quarters after the bar's beginning."""

    places: dict[str, tuple[str, float]]


def times_of(toolkit: Any) -> Times:
    places: dict[str, tuple[str, float]] = {}
    bar, started = "", 0.0
    for moment in _moments(toolkit):
        if "measureOn" in moment:
            bar, started = _written(moment["measureOn"]), moment["qstamp"]
        for name in (*moment.get("on", ()), *moment.get("restsOn", ())):
            places.setdefault(_written(name), (bar, round(moment["qstamp"] - started, 3)))
    return Times(places)


def playback_of(toolkit: Any, pages: Sequence[CleanPage], staves: dict[int, int]) -> dict[str, Any]:
    """`notes`: when, how long, which pitch, which part. `moments`: when, which bar, which thousandth of a quarter."""
    seen = {name: staff for page in pages for name, (_, staff) in page.notes.items()}
    bars = {bar.bar_id: place for place, bar in enumerate(bar for page in pages for bar in page.bars)}
    found = _moments(toolkit)
    ends = {name: moment["tstamp"] for moment in found for name in moment.get("off", ())}
    notes: list[list[int]] = []
    moments: list[list[int]] = []
    pitches: dict[str, int] = {}
    bar, started = 0, 0.0
    for moment in found:
        when = round(moment["tstamp"])
        if "measureOn" in moment:
            bar, started = bars.get(_written(moment["measureOn"]), bar), moment["qstamp"]
        for name in moment.get("on", ())[: MAX_NOTES - len(notes)]:
            written = _written(name)
            if written not in pitches:
                pitches[written] = toolkit.getMIDIValuesForElement(written).get("pitch", 0)
            length = round(ends.get(name, when)) - when
            notes.append([when, max(length, 0), pitches[written], staves.get(seen.get(written, 0), 0)])
        if moment.get("on") or moment.get("restsOn") or "measureOn" in moment:
            moments.append([when, bar, max(round((moment["qstamp"] - started) * 1000), 0)])
    length = round(max((moment["tstamp"] for moment in found), default=0))
    return {"notes": notes, "moments": moments, "length_ms": length}


def _moments(toolkit: Any) -> list[dict[str, Any]]:
    return toolkit.renderToTimemap({"includeMeasures": True, "includeRests": True})


def _written(name: str) -> str:
    """The name of the element on the page, however often it is played."""
    return _REPEATED.sub("", name)
