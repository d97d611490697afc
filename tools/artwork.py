"""Photographs, a poster and sheet music for the pictures of the README, drawn as SVG so that none has to be stored."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 960, 720


@dataclass(frozen=True)
class Landscape:
    """Ridges before a sky: its colours from above to below, and those of the ridges from far to near."""

    seed: int
    sky: Sequence[str]
    ridges: Sequence[str]
    sun: str
    water: bool = False

    def svg(self) -> str:
        chance = random.Random(self.seed)
        horizon = HEIGHT * 0.58
        stops = "".join(
            f'<stop offset="{place / (len(self.sky) - 1):.2f}" stop-color="{colour}"/>'
            for place, colour in enumerate(self.sky)
        )
        sun_x, sun_y = chance.uniform(0.25, 0.75) * WIDTH, horizon - chance.uniform(60, 200)
        background = (
            f'<defs><linearGradient id="sky" x2="0" y2="1">{stops}</linearGradient>'
            f'<radialGradient id="glow"><stop offset="0" stop-color="{self.sun}" stop-opacity=".8"/>'
            f'<stop offset="1" stop-color="{self.sun}" stop-opacity="0"/></radialGradient></defs>'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="url(#sky)"/>'
            f'<circle cx="{sun_x:.0f}" cy="{sun_y:.0f}" r="260" fill="url(#glow)"/>'
            f'<circle cx="{sun_x:.0f}" cy="{sun_y:.0f}" r="46" fill="{self.sun}"/>'
        )
        drawn = [background]
        for depth, colour in enumerate(self.ridges):
            base = horizon + depth * (HEIGHT - horizon) / len(self.ridges) * (0.35 if self.water else 0.9)
            drawn.append(f'<path d="{_ridge(chance, base, 120 - 18 * depth)}" fill="{colour}"/>')
        if self.water:
            shore = HEIGHT * 0.76
            drawn.append(f'<rect y="{shore:.0f}" width="{WIDTH}" height="{HEIGHT}" fill="{self.sky[-1]}"/>')
            for _ in range(90):
                y = chance.uniform(shore, HEIGHT)
                long = (y - shore + 12) * chance.uniform(0.4, 1.4)
                x = chance.gauss(sun_x, 60 + (y - shore)) if chance.random() < 0.6 else chance.uniform(0, WIDTH)
                drawn.append(
                    f'<rect x="{x - long / 2:.0f}" y="{y:.0f}" width="{long:.0f}" height="3" rx="1.5" '
                    f'fill="{self.sun}" opacity="{chance.uniform(0.15, 0.6):.2f}"/>'
                )
        return _svg("".join(drawn))


def _ridge(chance: random.Random, base: float, rise: float) -> str:
    waves = [
        (chance.uniform(0.5, 1) / order, order * chance.uniform(1, 2), chance.uniform(0, 7)) for order in range(1, 7)
    ]
    points: list[str] = []
    for x in range(0, WIDTH + 12, 12):
        height = sum(size * math.sin(pace * x / WIDTH * math.tau / 1.6 + phase) for size, pace, phase in waves)
        points.append(f"{x},{base - height * rise * 0.55:.0f}")
    return f"M0,{HEIGHT} L{' L'.join(points)} L{WIDTH},{HEIGHT} Z"


def _svg(content: str, width: int = WIDTH, height: int = HEIGHT) -> str:
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{content}</svg>'


def poster() -> str:
    """The concert's poster: rings of sound and three lines of type."""
    rings = "".join(
        f'<circle cx="480" cy="250" r="{30 + 25 * ring}" fill="none" stroke="#f2c14e" stroke-width="{8 - ring * 0.8}"/>'
        for ring in range(9)
    )
    type_ = (
        '<g font-family="DejaVu Serif, serif" fill="#fdf6e3" text-anchor="middle">'
        '<text x="480" y="560" font-size="84" font-weight="bold">Spring concert</text>'
        '<text x="480" y="622" font-size="34">Brahms · Debussy · Takemitsu</text>'
        '<text x="480" y="674" font-size="28" fill="#f2c14e">Saturday, 7 pm · Old Mill</text></g>'
    )
    return _svg(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#23395b"/>{rings}{type_}')


def sheet_music(title: str, part: str, seed: int) -> str:
    """A page of notes, A4 upright."""
    chance = random.Random(seed)
    width, height = 794, 1123
    font = 'font-family="DejaVu Serif, serif"'
    heading = (
        f'<rect width="{width}" height="{height}" fill="#fffdf8"/>'
        f'<text x="{width / 2}" y="90" font-size="34" text-anchor="middle" {font}>{title}</text>'
        f'<text x="70" y="130" font-size="18" {font}>{part}</text>'
    )
    drawn = [heading]
    for staff in range(9):
        top = 170 + staff * 100
        for line in range(5):
            drawn.append(f'<path d="M60 {top + line * 9}H734" stroke="#333"/>')
        x = 120.0
        for bar in range(5):
            drawn.append(f'<path d="M{60 + bar * 168.5} {top}v36" stroke="#333" stroke-width="1.5"/>')
        while x < 715:
            y = top + chance.randrange(-1, 10) * 4.5
            up = y > top + 18
            stem = f"M{x + (6 if up else -6):.0f} {y:.0f}v{-32 if up else 32}"
            filled = "#222" if chance.random() < 0.8 else "#fffdf8"
            drawn.append(
                f'<path d="{stem}" stroke="#222" stroke-width="1.6"/>'
                f'<ellipse cx="{x:.0f}" cy="{y:.0f}" rx="6.5" ry="4.6" '
                f'fill="{filled}" stroke="#222" stroke-width="1.4" transform="rotate(-20 {x:.0f} {y:.0f})"/>'
            )
            x += chance.choice((24, 24, 32, 44))
    return _svg("".join(drawn), width, height)


LANDSCAPES = {
    "Lake at dawn.jpg": Landscape(
        4, ("#2b3a67", "#b56b6f", "#f7c59f"), ("#7d6b8a", "#4f4f73", "#2b3252"), "#fff1c9", water=True
    ),
    "Above the clouds.jpg": Landscape(
        11, ("#3a7ca5", "#81c3d7", "#eaf4f4"), ("#b8d8e3", "#8fb8cc", "#5c8aa3", "#36627c"), "#ffffff"
    ),
    "Evening on the ridge.jpg": Landscape(
        23, ("#1a1443", "#7b2d52", "#f26b3a", "#ffd07b"), ("#8e3b5a", "#5a2747", "#2d1836"), "#ffe8a3"
    ),
    "First snow.jpg": Landscape(
        31, ("#9fb4c7", "#dfe7ee", "#f7f9fb"), ("#cdd9e4", "#a4b8c9", "#6f8aa0", "#3f586c"), "#fffaf0"
    ),
    "Meadow in May.jpg": Landscape(
        47, ("#4aa3df", "#a8dcf0", "#eef9e6"), ("#9ccf7c", "#6db35a", "#418a45", "#27613a"), "#fff6c2"
    ),
    "Night ferry.jpg": Landscape(
        58, ("#050a1f", "#0f2350", "#27497f"), ("#14264d", "#0d1a38", "#080f24"), "#f4f1de", water=True
    ),
}
