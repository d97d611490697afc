"""`satchel doctor`: tries everything a server needs, each part on its own, and says how to fix what does not work."""

import sys
from dataclasses import asdict
from secrets import token_bytes
from typing import TYPE_CHECKING, Annotated

import typer

from satchel.cli.engine.command.settings_options import SETTINGS, Chosen, takes_settings
from satchel.cli.engine.terminal.output import hanging, paint, print_json, printable, silence_logs

if TYPE_CHECKING:
    from satchel.cli.doctor.findings import Finding, Report


@takes_settings(*SETTINGS)
def doctor(
    chosen: Chosen, json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False
) -> None:
    """Check the configuration end to end and say what is wrong.

    Tries what a server does with each of its stores, on things of its own that it takes away again. Exits with 1 if
    anything failed. Give it the same options, environment and folder as `satchel serve`.
    """
    import asyncio

    from satchel.cli.doctor.findings import Report

    silence_logs()
    report = Report(_ignore if json else _Printer())
    asyncio.run(_examine(chosen, report))
    if json:
        print_json({"ok": not report.failures, "findings": [asdict(finding) for finding in report.findings]})
    else:
        _print_summary(report)
    raise typer.Exit(1 if report.failures else 0)


async def _examine(chosen: Chosen, report: "Report") -> None:
    # Imported here, because `satchel --help` reads this file too, and these load all of the stores.
    from satchel.cli.doctor import machine_check
    from satchel.cli.doctor.ephemeral_check import examine_ephemeral
    from satchel.cli.doctor.findings import Step
    from satchel.cli.doctor.objects_check import examine_objects
    from satchel.cli.doctor.table_check import examine_tables
    from satchel.cli.doctor.whole_check import examine_setup
    from satchel.kernel.signature import Signer
    from satchel.setup_check import check_settings

    async def read() -> str:
        chosen.settings()
        return str(chosen.file or "")

    async def fit_together() -> str:
        return check_settings(chosen.settings())

    if not await report.run("settings", [Step("read them", read)]):
        return
    settings = chosen.settings()
    await report.run("settings", [Step("name stores that go together", fit_together)])
    if settings.needs_data_folder:
        await machine_check.examine_folder(settings, report)
    with machine_check.unless_begun(settings) as trial:
        signer = await machine_check.examine_secret(trial, report)
        await examine_tables(trial, report)
        await examine_ephemeral(trial, report)
        signs = signer or Signer(token_bytes(32))
        await examine_objects(trial, signs, report)
        await examine_setup(trial, signs, report)
    await machine_check.examine_port(settings, report)


def _ignore(_finding: "Finding") -> None:
    pass


class _Printer:
    """Prints findings as they come, under a heading for each part."""

    def __init__(self) -> None:
        self._before: Finding | None = None

    def __call__(self, finding: "Finding") -> None:
        before, self._before = self._before, finding
        if before is None or before.part != finding.part:
            print(paint(finding.part, "strong"))
        match finding.outcome:
            case "good":
                known = f" ({finding.detail})" if finding.detail else ""
                _print_marked("✓", "good", finding.tried + known)
            case "bad":
                _print_marked("✗", "bad", finding.tried)
                print(paint(hanging(printable(finding.detail), " " * 6), "bad"))
            case "warning":
                _print_marked("!", "strong", finding.tried)
                print(hanging(printable(finding.detail), " " * 6))
            case "untried" if before is not None and before.outcome != "untried":
                _print_marked("–", "quiet", "the rest was not tried")
            case "untried":
                pass
        if finding.fix:
            print(hanging(printable(finding.fix), " " * 6))
        sys.stdout.flush()


def _print_marked(sign: str, style: str, text: str) -> None:
    line = hanging(printable(text), "  ", f"{sign} ")
    print(line.replace(sign, paint(sign, style), 1))


def _print_summary(report: "Report") -> None:
    tried = sum(finding.outcome != "untried" for finding in report.findings)
    if report.warnings:
        print(f"\nWarnings: {report.warnings}. A server starts all the same, and logs them.")
    if report.failures:
        print(paint(f"\n{report.failures} of {tried} checks failed.", "bad"))
    else:
        print(paint(f"\nAll {tried} checks passed.", "good"))
