"""What an examination found: every step is tried on its own, and a failed one says what is wrong and how to fix it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from satchel.config import BadSetting
from satchel.kernel.errors import SatchelError, Unavailable
from satchel.setup_check import Flaw

STEP_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried, or could not be because of what failed before."""

    part: str
    tried: str
    outcome: Literal["good", "warning", "bad", "untried"]
    detail: str = ""
    fix: str = ""


class Unfit(Exception):
    """Something answered, but not as it has to; the message says how, `fix` what to do."""

    def __init__(self, wrong: str, fix: str) -> None:
        super().__init__(wrong)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Step:
    """Something to try; it raises if it does not work, and returns what is worth knowing if it does.

    Without one that is `vital`, those after it cannot work either.
    """

    tried: str
    attempt: Callable[[], Awaitable[str | None]]
    vital: bool = False


class Report:
    """Collects findings, and shows each as soon as it is known."""

    def __init__(self, show: Callable[[Finding], None]) -> None:
        self._show = show
        self.findings: list[Finding] = []

    @property
    def failures(self) -> int:
        return sum(finding.outcome == "bad" for finding in self.findings)

    @property
    def warnings(self) -> int:
        return sum(finding.outcome == "warning" for finding in self.findings)

    def add(self, finding: Finding) -> None:
        self.findings.append(finding)
        self._show(finding)

    async def run(self, part: str, steps: Sequence[Step], *, if_unreachable: str = "") -> bool:
        """Try the steps in turn; True if all went well. What needs something that failed is not tried."""
        before = self.failures
        for place, step in enumerate(steps):
            finding, over = await _try(part, step, if_unreachable)
            self.add(finding)
            if over:
                for rest in steps[place + 1 :]:
                    self.add(Finding(part, rest.tried, "untried"))
                break
        return self.failures == before


async def _try(part: str, step: Step, if_unreachable: str) -> tuple[Finding, bool]:
    """What came of it, and whether that makes the next steps pointless."""
    over = step.vital
    try:
        async with asyncio.timeout(STEP_SECONDS):
            detail = await step.attempt()
    except Unfit as error:
        wrong, fix = str(error), error.fix
    except Flaw as flaw:
        outcome = "bad" if flaw.refused else "warning"
        return Finding(part, step.tried, outcome, str(flaw), flaw.fix), over and flaw.refused
    except Unavailable as error:
        wrong, fix, over = error.detail, if_unreachable, True
    except TimeoutError:
        wrong, fix, over = f"No answer in {STEP_SECONDS:.0f} seconds.", if_unreachable, True
    except (BadSetting, SatchelError) as error:
        wrong, fix = str(error), ""
    else:
        return Finding(part, step.tried, "good", detail or ""), False
    return Finding(part, step.tried, "bad", wrong, fix), over
