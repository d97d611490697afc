"""Figures as columns of blocks, as wide as the terminal."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.terminal.output import paint

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 6
_WIDEST_COLUMN = 4
# Between two labels below the columns.
_GAP = 3


def chart(periods: Sequence[tuple[str, int]], width: int, noun: str) -> Iterator[str]:
    """A column for each period, or for several that follow each other where there are too many for the width."""
    margin = len(f"{sum(count for _, count in periods):,}") + 1
    together = max(1, -(-len(periods) // max(1, width - margin)))
    columns = [periods[start : start + together] for start in range(0, len(periods), together)]
    heights = [sum(count for _, count in column) for column in columns]
    top = max(heights, default=0)
    column_width = max(1, min(_WIDEST_COLUMN, (width - margin) // max(1, len(columns))))
    for row in reversed(range(_HEIGHT)):
        scale = f"{top:,}" if row == _HEIGHT - 1 else "0" if row == 0 else ""
        drawn = "".join(_cell(height, top, row, column_width) for height in heights).rstrip()
        yield f"{scale:>{margin - 1}} " + (paint(drawn, "good") if drawn else "")
    labels = _labels([column[0][0] for column in columns], column_width, width - margin)
    yield " " * margin + paint(labels, "quiet")
    if together > 1:
        yield " " * margin + paint(f"Each column is {together} {noun}.", "quiet")


def _cell(height: int, top: int, row: int, width: int) -> str:
    """What of a column stands in a row; whatever is not nothing shows a little."""
    eighths = -(-height * _HEIGHT * 8 // top) if top else 0
    block = _EIGHTHS[max(0, min(8, eighths - row * 8))]
    return block * (width - 1) + " " if width > 1 else block


def _labels(periods: Sequence[str], column_width: int, room: int) -> str:
    """Days by month and day, months as they are, below every so many columns."""
    line = ""
    for place, period in enumerate(periods):
        label = period[5:] if len(period) > len("2026-11") else period
        at = place * column_width
        if at >= (len(line) + _GAP if line else 0) and at + len(label) <= room:
            line = line.ljust(at) + label
    return line
