"""Text of an engraved page. Signs of music in it become shapes, so that no page needs a font of its own."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from satchel.media.decoders.scores.music_fonts import MUSIC, music_shape, text_width


@dataclass(frozen=True)
class Run:
    """Some signs of one kind. `size` is in the units of the page."""

    text: str
    size: float
    family: str
    bold: bool
    italic: bool

    @property
    def is_music(self) -> bool:
        return self.family == MUSIC

    def width(self) -> float:
        if not self.is_music:
            return text_width(self.text, self.size, bold=self.bold, italic=self.italic)
        shapes = (music_shape(sign) for sign in self.text)
        return sum(shape[1] for shape in shapes if shape is not None) * self.size / 1000


@dataclass
class Line:
    """Runs that follow each other from one place on."""

    x: float
    y: float
    anchor: str
    runs: list[Run] = field(default_factory=list[Run])

    def written(self) -> list[str]:
        """As elements. A line of one kind stays one element, which a reader's font may set as it likes."""
        runs = _joined(self.runs)
        if not runs:
            return []
        if len(runs) == 1 and not runs[0].is_music:
            return [_text(runs[0], self.x, self.y, self.anchor)]
        width = sum(run.width() for run in runs)
        x = self.x - {"middle": width / 2, "end": width}.get(self.anchor, 0)
        parts: list[str] = []
        for run in runs:
            parts.extend(_shapes(run, x, self.y) if run.is_music else (_text(run, x, self.y, "start"),))
            x += run.width()
        return parts


def _joined(runs: list[Run]) -> list[Run]:
    joined: list[Run] = []
    for run in runs:
        last = joined[-1] if joined else None
        if last is not None and (last.size, last.family, last.bold, last.italic) == (
            run.size,
            run.family,
            run.bold,
            run.italic,
        ):
            joined[-1] = Run(last.text + run.text, run.size, run.family, run.bold, run.italic)
        else:
            joined.append(run)
    return joined


def _text(run: Run, x: float, y: float, anchor: str) -> str:
    styles = "".join(
        (
            ' font-weight="bold"' if run.bold else "",
            ' font-style="italic"' if run.italic else "",
            f' text-anchor="{anchor}"' if anchor in ("middle", "end") else "",
        )
    )
    # Spaces at either end count for where the next run stands.
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{run.size:.0f}" stroke="none"{styles} xml:space="preserve">'
        f"{escape(run.text)}</text>"
    )


def _shapes(run: Run, x: float, y: float) -> list[str]:
    parts: list[str] = []
    scale = run.size / 1000
    for sign in run.text:
        shape = music_shape(sign)
        if shape is not None:
            place = f"translate({x:.0f} {y:.0f}) scale({scale:g} {-scale:g})"
            parts.append(f'<path stroke="none" transform="{place}" d="{shape[0]}"/>')
            x += shape[1] * scale
    return parts
