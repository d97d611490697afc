"""The figures as a table that a person can read, or as JSON."""

import datetime
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.figures import Figure, Group, Noise, Spread
from bench.rounds import Effort

_HEAD = ("", "ours", "peer", "ratio (min–max)", "per CPU", "target", "")


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one run found, and where."""

    taken_at: str
    machine: str
    rounds: int
    seconds_per_sample: float
    groups: list[Group]


def report_of(groups: list[Group], effort: Effort) -> Report:
    return Report(
        taken_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
        machine=_machine(),
        rounds=effort.rounds,
        seconds_per_sample=effort.seconds,
        groups=groups,
    )


def for_machines(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def for_people(report: Report) -> str:
    rows = {group.name: [_row(figure) for figure in group.figures] for group in report.groups}
    every_row = [_HEAD, *(row for group in rows.values() for row in group)]
    widths = [max(len(row[column]) for row in every_row) for column in range(len(_HEAD))]
    lines = [f"{report.taken_at}, {report.machine}", f"Medians of {report.rounds} rounds or more, contestants in turn."]
    for group in report.groups:
        lines += [
            "",
            f"{group.name}: {group.about}",
            _conditions(group.noise),
            *([_line(_HEAD, widths)] if group.figures else []),
            *(_line(row, widths) for row in rows[group.name]),
            *(f"    {figure.what}: {figure.note}" for figure in group.figures if figure.note),
            *([f"  Could not be measured: {group.failure}"] if group.failure else []),
        ]
    held = [(group.name, figure) for group in report.groups for figure in group.figures if figure.target is not None]
    lines += ["", f"{sum(figure.met is True for _, figure in held)} of {len(held)} targets met."]
    lines += [f"  missed: {name}: {figure.what}" for name, figure in held if not figure.met]
    return "\n".join(lines)


def _conditions(noise: Noise) -> str:
    return (
        f"  (load average {noise.load_before:.2f} before and {noise.load_after:.2f} after; other programs used"
        f" {noise.others_percent:.0f} % of the machine, the hypervisor took {noise.stolen_percent:.0f} %)"
    )


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        f"  {figure.what}",
        _value(figure.ours, figure.unit),
        "" if figure.peer is None else f"{figure.peer_name} {_value(figure.peer, figure.unit)}",
        _ratio(figure.ratio),
        _ratio(figure.ratio_per_cpu),
        _target(figure),
        "" if figure.met is None else "met" if figure.met else "MISSED",
    )


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _value(spread: Spread, unit: str) -> str:
    return f"{_number(spread.median)} {unit} ({_number(spread.low)}–{_number(spread.high)})"


def _ratio(spread: Spread | None) -> str:
    return "" if spread is None else f"{_number(spread.median)} ({_number(spread.low)}–{_number(spread.high)})"


def _target(figure: Figure) -> str:
    match figure.target:
        case None:
            return ""
        case target if target.kind == "below":
            return f"< {target.value:g} {figure.unit}"
        case target:
            return f"≥ {target.value:g} x"


def _number(value: float) -> str:
    """Three figures that count, whole from a hundred on."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}, Python {platform.python_version()}"
