"""How a report goes on after failures, and what it leaves out because of them."""

from satchel.cli.doctor.findings import Finding, Report, Step, Unfit
from satchel.config import BadSetting
from satchel.kernel.errors import Conflict, Unavailable


async def fine() -> str:
    return "as it should be"


async def unfit() -> None:
    raise Unfit("It forgets.", "Use another.")


async def refused() -> None:
    raise Conflict("Somebody was first.")


async def unreachable() -> None:
    raise Unavailable("It does not answer.")


async def badly_set() -> None:
    raise BadSetting("SATCHEL_X is no good.")


async def outcomes(*steps: Step) -> list[Finding]:
    shown: list[Finding] = []
    report = Report(shown.append)
    all_well = await report.run("part", steps, if_unreachable="Start it.")
    assert shown == report.findings
    assert all_well == (report.failures == 0)
    return shown


async def test_what_does_not_fit_is_told_with_its_remedy_and_the_rest_is_tried() -> None:
    assert await outcomes(Step("a", unfit), Step("b", refused), Step("c", badly_set), Step("d", fine)) == [
        Finding("part", "a", "bad", "It forgets.", "Use another."),
        Finding("part", "b", "bad", "Somebody was first."),
        Finding("part", "c", "bad", "SATCHEL_X is no good."),
        Finding("part", "d", "good", "as it should be"),
    ]


async def test_what_does_not_answer_is_not_asked_again() -> None:
    assert await outcomes(Step("a", fine), Step("b", unreachable), Step("c", fine)) == [
        Finding("part", "a", "good", "as it should be"),
        Finding("part", "b", "bad", "It does not answer.", "Start it."),
        Finding("part", "c", "untried"),
    ]


async def test_what_needs_a_vital_step_is_not_tried_without_it() -> None:
    assert [each.outcome for each in await outcomes(Step("a", unfit, vital=True), Step("b", fine))] == [
        "bad",
        "untried",
    ]
    assert [each.outcome for each in await outcomes(Step("a", fine, vital=True), Step("b", fine))] == ["good", "good"]
