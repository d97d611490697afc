"""`satchel photos clock`: list cameras, correct the clock of one after showing what would move, and undo it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from msgspec import to_builtins

from satchel.cli.engine.api_types.album_types import ActedView, ClockPlanView, PlanView
from satchel.cli.engine.api_types.photo_types import CameraList, CameraView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_moves import move_lines, shown_photos
from satchel.cli.engine.terminal.columns import fitted, shown_width
from satchel.cli.engine.terminal.output import CommandFailed, Misused, answer, note, paint, print_json, printable
from satchel.cli.engine.terminal.prompts import confirm

_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_SHIFT = re.compile(r"([+-])((?:\d{1,6}[dhms])+)")
_PART = re.compile(r"(\d+)([dhms])")
# As many before and after as a preview shows.
_SAMPLES = 3


def shift_of(written: str) -> int:
    """The seconds of an amount such as +1h30m."""
    found = _SHIFT.fullmatch(written.strip().lower())
    if found is None:
        raise Misused(f"An amount looks like +1h30m or -2d, with d, h, m and s, not like {written!r}.")
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(found[2]))
    return seconds if found[1] == "+" else -seconds


@dataclass(frozen=True, slots=True)
class CameraClock:
    """Where photos are looked for, an album or some days, and for whom the answers are."""

    client: Client
    album_id: str
    first_day: str
    last_day: str
    as_json: bool

    def list_cameras(self) -> None:
        cameras = self._cameras()
        answer({"cameras": to_builtins(cameras)}, _camera_lines(cameras), as_json=self.as_json)

    def correct(self, typed: str, seconds: int, *, dry_run: bool, yes: bool) -> None:
        camera = self._find(typed)
        scope = {"album_id": self.album_id} if self.album_id else self._days()
        fix: dict[str, object] = {**scope, "make": camera.make, "model": camera.model, "shift_seconds": seconds}
        fix |= {"serial": camera.serial} if camera.serial else {}
        plan = self.client.call("POST", "/photos/clock/plan", ClockPlanView, fix)
        if not self.as_json:
            for line in _plan_lines(plan):
                note(line)
        if dry_run:
            if self.as_json:
                print_json({"plan": to_builtins(plan), "album": None, "act": None})
            return
        if not plan.medias:
            raise CommandFailed("No photo would have another time. Nothing was done.")
        if not yes:
            confirm(f"{camera.camera}: {shown_photos(plan.medias)} would have another time.")
        acted = self.client.make("/photos/clock", ActedView, fix)
        if self.as_json:
            print_json({"plan": to_builtins(plan), **to_builtins(acted)})
            return
        print(printable(f"The clock of {camera.camera} is corrected: {shown_photos(plan.medias)}."))
        if acted.act is not None:
            print(f"To undo it: satchel photos clock --undo {acted.act.act_id}")

    def _cameras(self) -> list[CameraView]:
        asked = {"album": self.album_id} if self.album_id else {"from": self.first_day, "to": self.last_day}
        return self.client.call("GET", f"/photos/cameras?{urlencode(asked)}", CameraList).cameras

    def _days(self) -> dict[str, str]:
        return {"first_day": self.first_day, "last_day": self.last_day}

    def _find(self, typed: str) -> CameraView:
        wanted = typed.strip().casefold()
        cameras = self._cameras()
        found = [each for each in cameras if wanted in (each.camera.casefold(), (each.serial or "").casefold())]
        if not found and wanted:
            found = [each for each in cameras if set(wanted.split()) <= set(each.camera.casefold().split())]
        if len(found) > 1:
            known = ", ".join(f"{each.camera} ({each.serial or 'no serial number'})" for each in found)
            raise CommandFailed(
                f"{len(found)} cameras are called {typed}. Give the whole name, or the number: {known}."
            )
        if not found:
            known = ", ".join(dict.fromkeys(each.camera for each in cameras)) or "none"
            raise CommandFailed(f"There is no photo of a camera {typed} here. The cameras are: {known}.")
        return found[0]


def undo_correction(client: Client, act_id: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    plan = client.call("POST", "/albums/plan", PlanView, {"change": {"kind": "undo", "act_id": act_id}})
    if not as_json:
        for line in move_lines(plan.moves):
            note(line)
    if dry_run:
        if as_json:
            print_json({"plan": to_builtins(plan), "album": None, "act": None})
        return
    if not yes:
        confirm("The photos get the times back that they had before.")
    acted = client.call("POST", f"/albums/acts/{act_id}/undo", ActedView, {"quarters": True})
    if as_json:
        print_json({"plan": to_builtins(plan), **to_builtins(acted)})
    else:
        print("It is undone.")


def _camera_lines(cameras: Sequence[CameraView]) -> Iterator[str]:
    names = [printable(each.camera) for each in cameras]
    width = max(map(shown_width, [*names, "camera"]), default=0)
    if not cameras:
        yield "No photo here says with which camera it was taken."
    else:
        yield paint(f"{fitted('camera', width)}  photos  first                last                 serial", "quiet")
    for name, each in zip(names, cameras, strict=True):
        serial = printable(each.serial or "–")
        yield f"{fitted(name, width)}  {each.medias:>6,}  {_time(each.first)}  {_time(each.last)}  {serial}"


def _plan_lines(plan: ClockPlanView) -> Iterator[str]:
    yield f"{shown_photos(plan.medias)} would have another time."
    for sample in plan.samples[:_SAMPLES]:
        yield f"  {_time(sample.before)} → {_time(sample.after)}"
    if plan.medias > _SAMPLES:
        yield f"  and {plan.medias - _SAMPLES:,} more"
    yield from move_lines(plan.moves)


def _time(moment: str) -> str:
    return moment[:19].replace("T", " ")
