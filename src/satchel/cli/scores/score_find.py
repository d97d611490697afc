"""Find a score by what somebody typed: its id or the end of it, or its title."""

from urllib.parse import urlencode

from satchel.cli.engine.api_types.score_types import ScoreCard, ScoreList, ScorePartView, ScoreView, SnapshotView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed

# As much of an id as lists show.
SHORT_ID = 8


def list_scores(client: Client, *, words: str = "", tag: str = "", mine: bool = False) -> ScoreList:
    query = {"q": words, "tag": tag, "mine": "true" if mine else ""}
    asked = urlencode({name: value for name, value in query.items() if value})
    return client.call("GET", f"/scores?{asked}", ScoreList)


def find_score(client: Client, typed: str) -> ScoreView:
    """Raises `CommandFailed` if there is none, or more than one."""
    found = _matches(list_scores(client).scores, typed.strip())
    if len(found) > 1:
        ids = ", ".join(short_id(score) for score in found)
        raise CommandFailed(f"{len(found)} scores are called {typed}. Name one by its id: {ids}.")
    if not found:
        raise CommandFailed(f"There is no score {typed}. `satchel score list` lists them.")
    return client.call("GET", f"/scores/{found[0].score_id}", ScoreView)


def part_of(score: ScoreView, typed: str) -> ScorePartView:
    """Raises `CommandFailed` if it has no such part."""
    for part in score.parts:
        if part.name.casefold() == typed.casefold():
            return part
    names = ", ".join(part.name for part in score.parts) or "none"
    raise CommandFailed(f"{score.title} has no part {typed}. Its parts: {names}.")


def snapshot_of(score: ScoreView, typed: str) -> SnapshotView:
    """The newest of that name. Raises `CommandFailed` if there is none."""
    for kept in reversed(score.snapshots):
        if kept.name.casefold() == typed.casefold():
            return kept
    names = ", ".join(kept.name for kept in score.snapshots) or "none"
    raise CommandFailed(f"{score.title} has no snapshot {typed}. Its snapshots: {names}.")


def short_id(score: ScoreCard) -> str:
    return score.score_id[-SHORT_ID:]


def _matches(scores: list[ScoreCard], typed: str) -> list[ScoreCard]:
    exact = [score for score in scores if score.score_id == typed]
    named = [score for score in scores if score.title.casefold() == typed.casefold()]
    by_end = [score for score in scores if len(typed) >= SHORT_ID and score.score_id.endswith(typed)]
    return exact or named or by_end
