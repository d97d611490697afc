"""The figures of both sets of stores and of their peers, as a table and a chart in the documents.

What was measured is kept in `docs/figures.json`, group by group, so that a run of some groups leaves the others.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape

import msgspec

from bench.acts import EMBEDDED
from bench.figures import Figure, Group
from bench.report import Report

Series: TypeAlias = Literal["embedded", "distributed", "peer"]

# Groups, and what they are called in the table and the chart.
_SHOWN = {
    "acts": "What people do, over HTTP, 8 at once",
    "table": "Tables through the port, 32 at once",
    "ephemeral": "Short-lived state through the port",
}
_SERIES: tuple[Series, ...] = ("embedded", "distributed", "peer")
_LEGEND: dict[Series, str] = {
    "embedded": "embedded stores",
    "distributed": "two servers on shared stores",
    "peer": "peer",
}
_PLACE = re.compile(r"(?<=<!-- made by `make bench` -->\n).*?(?=<!-- end -->)", re.DOTALL)
_LEAST, _MOST = 10.0, 1_000_000.0
_WIDTH, _LEFT, _RIGHT, _BAR, _GAP = 860, 230, 170, 9, 9


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A group as it was last measured."""

    taken_at: str
    machine: str
    rounds: int
    group: Group


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table, and of the chart: how many times a second."""

    what: str
    rates: dict[Series, float]
    peer: str = ""


def write(report: Report, docs: Path) -> None:
    """Keep what was measured, and draw all that is kept."""
    file = docs / "figures.json"
    kept = msgspec.json.decode(file.read_bytes(), type=dict[str, Kept]) if file.exists() else {}
    for group in report.groups:
        if group.name in _SHOWN and not group.failure:
            kept[group.name] = Kept(taken_at=report.taken_at, machine=report.machine, rounds=report.rounds, group=group)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(dict(sorted(kept.items()))), indent=1) + b"\n")
    parts = {title: rows_of(kept[name].group) for name, title in _SHOWN.items() if name in kept}
    page = docs / "figures.md"
    page.write_text(_PLACE.sub(lambda _: table(parts, kept), page.read_text()))
    for name, colours in _THEMES.items():
        (docs / "pictures" / f"figures-{name}.svg").write_text(chart(parts, colours))


def rows_of(group: Group) -> list[Row]:
    """A line for each thing that was measured; of the same thing beside another peer, one line."""
    rows: dict[str, Row] = {}
    for figure in group.figures:
        if figure.peer is None or "share of raw" in figure.what:
            continue
        row = rows.get(figure.what) or Row(what=figure.what, rates={})
        theirs: Series = "embedded" if figure.peer_name == EMBEDDED else "peer"
        rates: dict[Series, float] = {**row.rates, _ours(group): figure.ours.median, theirs: figure.peer.median}
        rows[figure.what] = Row(what=figure.what, rates=rates, peer=_peer(figure) or row.peer)
    return list(rows.values())


def _ours(group: Group) -> Series:
    return "distributed" if group.name == "acts" else "embedded"


def _peer(figure: Figure) -> str:
    return "" if figure.peer_name in (None, EMBEDDED) else str(figure.peer_name)


def table(parts: Mapping[str, Sequence[Row]], kept: Mapping[str, Kept]) -> str:
    lines = ["", "| times a second | embedded | distributed | peer | |", "|---|---:|---:|---:|---|"]
    for title, rows in parts.items():
        lines.append(f"| **{title}** | | | | |")
        for row in rows:
            rates = [row.rates.get(series) for series in _SERIES]
            shown = " | ".join("" if rate is None else _number(rate) for rate in rates)
            lines.append(f"| {row.what} | {shown} | {row.peer} |")
    lines.append("")
    for name in _SHOWN:
        if name in kept:
            noise = kept[name].group.noise
            lines.append(
                f"- `{name}`: {kept[name].taken_at[:10]}, {kept[name].machine}, medians of {kept[name].rounds} rounds,"
                f" other programs used {noise.others_percent:.0f} % of the machine."
            )
    return "\n".join([*lines, "", ""])


class Colours(msgspec.Struct, frozen=True):
    """Of one theme."""

    ground: str
    text: str
    faint: str
    bars: dict[Series, str]


_THEMES = {
    "light": Colours(
        "#ffffff", "#1f2328", "#d8dce2", {"embedded": "#2563c9", "distributed": "#d9730d", "peer": "#8b93a1"}
    ),
    "dark": Colours(
        "#14171c", "#e6e8eb", "#363c46", {"embedded": "#6ea8fe", "distributed": "#f0a04b", "peer": "#8b93a1"}
    ),
}


def chart(parts: Mapping[str, Sequence[Row]], colours: Colours) -> str:
    """Bars on a logarithmic scale."""
    body: list[str] = []
    top = 58
    for title, rows in parts.items():
        body.append(_text(16, top + 12, title, colours.text, weight="600"))
        top += 26
        for row in rows:
            top = _row(body, row, top, colours)
        top += 12
    height = top + 8
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{height}" fill="{colours.ground}"/>',
        *_legend(colours),
        *_grid(height, colours),
    ]
    return "\n".join([*head, *body, "</svg>", ""])


def _row(body: list[str], row: Row, top: int, colours: Colours) -> int:
    there: list[tuple[Series, float]] = [(each, row.rates[each]) for each in row.rates]
    there.sort(key=lambda each: _SERIES.index(each[0]))
    middle = top + len(there) * (_BAR + 2) // 2
    body.append(_text(_LEFT - 10, middle + 4, row.what, colours.text, anchor="end"))
    for series, rate in there:
        width = _x(rate) - _LEFT
        body.append(
            f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" rx="2" fill="{colours.bars[series]}"/>'
        )
        named = f"{_number(rate)} {row.peer}" if series == "peer" else _number(rate)
        body.append(_text(_x(rate) + 5, top + _BAR, named, colours.text, size=11))
        top += _BAR + 2
    return top + _GAP


def _legend(colours: Colours) -> list[str]:
    drawn, left = list[str](), _LEFT
    for series in _SERIES:
        drawn.append(f'<rect x="{left}" y="14" width="12" height="12" rx="2" fill="{colours.bars[series]}"/>')
        drawn.append(_text(left + 18, 25, _LEGEND[series], colours.text))
        left += 44 + 7 * len(_LEGEND[series])
    return drawn


def _grid(height: int, colours: Colours) -> list[str]:
    drawn: list[str] = []
    for power in range(round(math.log10(_LEAST)), round(math.log10(_MOST)) + 1):
        x = _x(10.0**power)
        drawn.append(f'<line x1="{x:.1f}" y1="50" x2="{x:.1f}" y2="{height - 8}" stroke="{colours.faint}"/>')
        drawn.append(_text(x, 45, f"{10**power:,}/s", colours.text, anchor="middle", size=11))
    return drawn


def _x(rate: float) -> float:
    share = math.log10(max(rate, _LEAST) / _LEAST) / math.log10(_MOST / _LEAST)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _text(
    x: float, y: float, text: str, colour: str, *, anchor: str = "start", size: int = 13, weight: str = "400"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size}"'
        f' font-weight="{weight}">{escape(text)}</text>'
    )


def _number(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"
