"""What was changed of albums and can be undone, and what a check of all counts has found."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from satchel.cli.engine.api_types.album_types import ActList, ActView, DriftView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_moves import shown_photos
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_moment

_PAGE = 100
_KINDS = {
    "create": "made",
    "rename": "renamed",
    "dates": "other dates",
    "delete": "deleted",
    "clock": "clock corrected",
}
_KIND_WIDTH = max(map(len, _KINDS.values()))
_DRIFTS = {
    "missing": "the count of {album} for {email} is missing; it is {counted:,}",
    "wrong": "the count of {album} for {email} is {stored:,} instead of {counted:,}",
    "unexpected": "{email} has a count of {album} and does not see it",
    "grant-missing": "{email} is on the list of {album} and has lost the right to see it",
    "grant-unexpected": "{email} may see {album} and is not on its list",
    "bytes": "all photos take {counted:,} bytes, and {stored:,} are counted",
    "days": "the days of {album} have {stored:,} photos instead of {counted:,}",
    "timeline": "the timeline counts {stored:,} photos on days of a month that have {counted:,}",
}


def last_changes(client: Client, most: int) -> list[ActView]:
    """The last so many, the last first."""
    found: list[ActView] = []
    cursor = ""
    while len(found) < most:
        page = client.call("GET", f"/albums/acts?limit={min(_PAGE, most - len(found))}{cursor}", ActList)
        found += page.acts
        if page.cursor is None:
            break
        cursor = f"&cursor={quote(page.cursor, safe='')}"
    return found


def change_lines(acts: Sequence[ActView]) -> Iterator[str]:
    if not acts:
        yield "Nothing was changed in the last 30 days."
    for act in acts:
        moved = f", {shown_photos(act.moved)} moved" if act.moved else ""
        state = "" if act.done else ", still moving photos"
        if act.undone_by:
            state = ", undone"
        elif act.undoes:
            state = f", undid an earlier change{state}"
        yield f"{shown_moment(act.at)}  {_KINDS[act.kind]:<{_KIND_WIDTH}}  {printable(act.name)}{moved}{state}"
        if not act.undone_by:
            undo = "photos clock --undo" if act.kind == "clock" else "album undo"
            yield paint(f"  satchel {undo} {act.act_id}", "quiet")


def drift_lines(drifts: Sequence[DriftView], names: Mapping[str, str]) -> Iterator[str]:
    if not drifts:
        yield "All counts and shares are right."
    for drift in drifts:
        said = _DRIFTS[drift.kind].format(
            album=names.get(drift.album_id, drift.album_id),
            email=drift.email,
            stored=drift.stored,
            counted=drift.counted,
        )
        yield printable(f"{'repaired' if drift.repaired else 'wrong'}: {said}")
