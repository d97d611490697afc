"""Which bytes of a file have gone out. A download is whole when every byte went, not when as many bytes went."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

# From the first byte to the one after the last.
Span: TypeAlias = tuple[int, int]
# What went once, what of that went twice, and so on.
Layers: TypeAlias = list[list[Span]]

# More pieces than anybody fetches of one file. The smallest beyond them are forgotten: they would have to go again.
MOST_SPANS = 64
MOST_LAYERS = 4


def with_span(spans: Iterable[Span], new: Span) -> tuple[list[Span], list[Span]]:
    """The spans with one more, sorted and joined; and what of the new one was there before."""
    start, end = new
    apart: list[Span] = []
    again: list[Span] = []
    for low, high in spans:
        if high < new[0] or low > new[1]:
            apart.append((low, high))
            continue
        if low < new[1] and high > new[0]:
            again.append((max(low, new[0]), min(high, new[1])))
        start, end = min(start, low), max(end, high)
    joined = sorted([*apart, (start, end)] if end > start else apart)
    while len(joined) > MOST_SPANS:
        joined.remove(min(joined, key=lambda span: span[1] - span[0]))
    return joined, again


def length_of(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def with_layered(layers: Sequence[Sequence[Span]], new: Span, size_bytes: int) -> tuple[Layers, int]:
    """The layers with one more span, without those that became whole; and how many these were."""
    rising: list[Span] = [new] if new[1] > new[0] else []
    found: Layers = []
    for number in range(MOST_LAYERS):
        above: list[Span] = []
        spans = list(layers[number]) if number < len(layers) else []
        for span in rising:
            spans, again = with_span(spans, span)
            above += again
        found.append(spans)
        rising = above
    whole = [spans == [(0, size_bytes)] for spans in found]
    return [spans for spans, is_whole in zip(found, whole, strict=True) if spans and not is_whole], sum(whole)
