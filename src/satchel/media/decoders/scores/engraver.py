"""Engraves MusicXML, MEI and ABC by Verovio: pages, where bars and beats are on them, and what a player needs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, BinaryIO

from satchel.media.decoders.scores.notation_parts import parts_of, without_others
from satchel.media.decoders.scores.notation_source import Notation, chosen, read_notation
from satchel.media.decoders.scores.refusal import ScoreRefused
from satchel.media.decoders.scores.score_times import Times, playback_of, times_of
from satchel.media.decoders.scores.svg_clean import Bar, CleanPage, clean
from satchel.media.score_jobs import (
    MAX_PAGES,
    BytesAnswer,
    FactsAnswer,
    FactsJob,
    MadePage,
    PageAnswer,
    PageOptions,
    PagesJob,
    PlaybackJob,
    ScoreAnswer,
    SourceFacts,
)

_verovio: Any = import_module("verovio")
_verovio.enableLog(_verovio.LOG_OFF)

# A4 in tenths of a millimetre.
_PAGE_WIDTH, _PAGE_HEIGHT = 2100, 2970
_SMALLEST, _LARGEST = 40, 200
# So many parts, and what suits them.
_SIZES = ((2, 90), (5, 75), (MAX_PAGES, 60))
_UNITS = 10_000
# What goes to the server in one message.
_PIECE_BYTES = 1024 * 1024


@dataclass
class Engraved:
    """Loaded music. `staves` says of each staff, by its number, which part it belongs to."""

    toolkit: Any
    facts: SourceFacts
    staves: dict[int, int]


def work(
    file: BinaryIO, size_bytes: int, job: FactsJob | PagesJob | PlaybackJob, send: Callable[[ScoreAnswer], None]
) -> None:
    engraved = _load(read_notation(file, size_bytes, job.kind, job.options.parts), job.options)
    if isinstance(job, PlaybackJob):
        _send_playback(engraved, send)
        return
    send(FactsAnswer(facts=engraved.facts))
    if isinstance(job, PagesJob):
        times = times_of(engraved.toolkit)
        bars = 0
        for number in range(engraved.facts.pages):
            page = clean(engraved.toolkit.renderToSVG(number + 1))
            if number >= job.first and (number - job.first) % job.step == 0:
                send(PageAnswer(page=_made(page, number, bars, engraved.staves, times)))
            bars += len(page.bars)


def _load(notation: Notation, options: PageOptions) -> Engraved:
    scale = options.scale or next(size for parts, size in _SIZES if min(len(notation.parts), MAX_PAGES) <= parts)
    toolkit = _toolkit(notation.form, scale, options.transpose)
    _read(toolkit, notation.text)
    names, staves = parts_of(toolkit, [(part.part_id, part.name) for part in notation.parts])
    if options.parts and notation.form != "musicxml":
        wanted = chosen(names, options.parts)
        music = without_others(toolkit.getMEI({}), {number for number, part in staves.items() if part in wanted})
        # The music was transposed as it was read.
        toolkit = _toolkit("mei", scale, "")
        _read(toolkit, music)
        names, staves = parts_of(toolkit, [])
    pages = toolkit.getPageCount()
    if pages > MAX_PAGES:
        raise ScoreRefused(
            "score-too-many-pages", f"The music takes {pages} pages. A score has at most {MAX_PAGES}; split it."
        )
    facts = SourceFacts(pages=pages, title=notation.title, composer=notation.composer, parts=names)
    return Engraved(toolkit, facts, staves)


def _toolkit(form: str, size: int, transpose: str) -> Any:
    toolkit = _verovio.toolkit()
    scale = min(max(size, _SMALLEST), _LARGEST)
    settings: dict[str, object] = {
        "inputFrom": form,
        "scale": scale,
        # Pages stay A4 whatever the size of the notes.
        "pageWidth": round(_PAGE_WIDTH * 100 / scale),
        "pageHeight": round(_PAGE_HEIGHT * 100 / scale),
        "pageMarginTop": round(10_000 / scale),
        "pageMarginBottom": round(10_000 / scale),
        "pageMarginLeft": round(10_000 / scale),
        "pageMarginRight": round(10_000 / scale),
        "footer": "none",
        "justifyVertically": True,
        "svgViewBox": True,
        "svgRemoveXlink": True,
        "svgFormatRaw": True,
        "smuflTextFont": "none",
        "svgAdditionalAttribute": ["staff@n", "measure@n"],
        # Ids depend on the music alone, so that engraving twice gives the same pages.
        "xmlIdSeed": 1,
    }
    if transpose:
        settings["transpose"] = transpose
    toolkit.setOptions(settings)
    return toolkit


def _read(toolkit: Any, text: str) -> None:
    if not toolkit.loadData(text) or toolkit.getPageCount() == 0:
        raise ScoreRefused("score-broken", "The music could not be engraved. Export it anew, as MusicXML.")


def _made(page: CleanPage, number: int, first_bar: int, staves: dict[int, int], times: Times) -> MadePage:
    across, down = _UNITS / page.width, _UNITS / page.height
    beats: dict[str, dict[float, float]] = {}
    for name, (x, _) in page.notes.items():
        if (place := times.places.get(name)) is not None:
            found = beats.setdefault(place[0], {})
            found[place[1]] = min(found.get(place[1], x), x)
    bars = [
        _bar(bar, first_bar + place, staves, beats.get(bar.bar_id, {}), across, down)
        for place, bar in enumerate(page.bars)
    ]
    return MadePage(
        number=number,
        kind="svg",
        body=page.svg.encode(),
        width=_PAGE_WIDTH,
        height=_PAGE_HEIGHT,
        map=json.dumps({"bars": bars}, separators=(",", ":")).encode(),
    )


def _bar(
    bar: Bar, place: int, staves: dict[int, int], beats: dict[float, float], across: float, down: float
) -> dict[str, object]:
    seen = [staff for staff in bar.staves if staff.right > 0]
    left, right = min((s.left for s in seen), default=0.0), max((s.right for s in seen), default=0.0)
    top, bottom = min((s.top for s in seen), default=0.0), max((s.bottom for s in seen), default=0.0)
    return {
        "bar": place,
        "number": bar.number,
        "box": [round(left * across), round(top * down), round((right - left) * across), round((bottom - top) * down)],
        "staves": [
            {
                "part": staves.get(staff.number, 0),
                "staff": staff.number,
                "y": round(staff.top * down),
                "h": round((staff.bottom - staff.top) * down),
            }
            for staff in seen
        ],
        "beats": [[beat, round(x * across)] for beat, x in sorted(beats.items())],
    }


def _send_playback(engraved: Engraved, send: Callable[[ScoreAnswer], None]) -> None:
    pages: list[CleanPage] = []
    for number in range(engraved.facts.pages):
        pages.append(clean(engraved.toolkit.renderToSVG(number + 1)))
        # Each page has its own time.
        send(BytesAnswer(body=b""))
    found = playback_of(engraved.toolkit, pages, engraved.staves) | {"parts": engraved.facts.parts}
    body = json.dumps(found, separators=(",", ":")).encode()
    for start in range(0, len(body), _PIECE_BYTES):
        send(BytesAnswer(body=body[start : start + _PIECE_BYTES]))
