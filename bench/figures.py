"""What a figure is: samples taken in turn, ratios pair by pair, and the target they are held against."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec


@dataclass(frozen=True, slots=True)
class Sample:
    """Some work, how long it took and, where it can be told apart, the processor time of whoever did it."""

    work: float
    seconds: float
    cpu_seconds: float | None = None

    @property
    def rate(self) -> float:
        return self.work / self.seconds

    @property
    def rate_per_cpu(self) -> float | None:
        return self.work / self.cpu_seconds if self.cpu_seconds else None


class Spread(msgspec.Struct, frozen=True):
    """The median of some rounds, and the two farthest from it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(statistics.median(values), min(values), max(values))


class Target(msgspec.Struct, frozen=True):
    """What a figure has to reach: a ratio to the peer of at least this, or a value of our own below this."""

    kind: Literal["ratio of at least", "below"]
    value: float


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report."""

    what: str
    unit: str
    ours: Spread
    peer_name: str | None = None
    peer: Spread | None = None
    ratio: Spread | None = None
    # The same ratio, but of work per second of processor time; it suffers less from neighbours.
    ratio_per_cpu: Spread | None = None
    target: Target | None = None
    met: bool | None = None
    note: str = ""


class Noise(msgspec.Struct, frozen=True):
    """What else happened on the machine while a group of figures was taken."""

    load_before: float
    load_after: float
    others_percent: float
    stolen_percent: float


class Group(msgspec.Struct, frozen=True):
    """The figures of one subject and the conditions they were taken under."""

    name: str
    about: str
    figures: list[Figure]
    noise: Noise
    failure: str = ""


def at_least(ratio: float) -> Target:
    return Target("ratio of at least", ratio)


def below(value: float) -> Target:
    return Target("below", value)


def compare(
    what: str,
    unit: str,
    samples: Mapping[str, Sequence[Sample]],
    *,
    ours: str = "satchel",
    peer: str,
    target: Target | None = None,
    scale: float = 1.0,
    note: str = "",
) -> Figure:
    """Two contestants of the same rounds. `scale` turns work into the unit, as bytes into MB."""
    pairs = list(zip(samples[ours], samples[peer], strict=True))
    ratio = Spread.of([mine.rate / theirs.rate for mine, theirs in pairs])
    per_cpu = [(mine.rate_per_cpu, theirs.rate_per_cpu) for mine, theirs in pairs]
    known = [mine / theirs for mine, theirs in per_cpu if mine is not None and theirs is not None]
    return Figure(
        what=what,
        unit=unit,
        ours=Spread.of([each.rate * scale for each in samples[ours]]),
        peer_name=peer,
        peer=Spread.of([each.rate * scale for each in samples[peer]]),
        ratio=ratio,
        ratio_per_cpu=Spread.of(known) if len(known) == len(pairs) else None,
        target=target,
        met=None if target is None else ratio.median >= target.value,
        note=note,
    )


def alone(what: str, unit: str, values: Sequence[float], *, target: Target | None = None, note: str = "") -> Figure:
    """A figure of our own, without a peer."""
    spread = Spread.of(values)
    met = None if target is None else spread.median < target.value
    return Figure(what=what, unit=unit, ours=spread, target=target, met=met, note=note)
