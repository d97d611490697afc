"""`python -m bench.camera_files FOLDER… [--json]`: read, show and redact files of real cameras, one by one.

A file that has a text of metadata-extractor beside it (`metadata/java/NAME.txt`) is compared with that text. It exits
with 1 if reading a file raised something, or if others would get its place.
"""

import argparse
import asyncio
import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from satchel.kernel.patches import patched
from satchel.media.child import Child, ChildDied, ChildTooSlow
from satchel.media.frames import Answer, Job
from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata.media_read import Circumstances, read_window
from satchel.media.metadata_job import MetadataJob
from satchel.media.redaction.redaction import Redaction

_AT_ONCE = 2
_DEGREES = re.compile(r"(-?\d+)° (-?\d+)' (-?[\d.,]+)\"")
# Metadata-extractor names what it has read by directory and tag. Some files have the camera only in an inner picture.
_TOLD = {
    "date": r"\[Exif SubIFD - 0x9003\] Date/Time Original = (\d{4}:\d\d:\d\d \d\d:\d\d:\d\d)",
    "model": r"\[Exif IFD0 - 0x0110\] Model = (.+)",
    "latitude": r"\[GPS - 0x0002\] GPS Latitude = (.+)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One file: what we say of it, and what is wrong with that."""

    path: str
    kind: str
    date: str = ""
    source: str = ""
    model: str = ""
    has_place: bool = False
    picture: str = ""
    is_withheld: bool = False
    # What metadata-extractor says otherwise.
    differs: Sequence[str] = ()
    fault: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.camera_files", description="Try files of real cameras.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER", type=Path, help="a collection of photos and videos")
    parser.add_argument("--json", action="store_true", help="an object per file")
    chosen = parser.parse_args()
    found = asyncio.run(_try_all(sorted(_files(chosen.folders))))
    if chosen.json:
        for each in found:
            print(json.dumps(asdict(each)))
    else:
        print("\n".join(_report(found)))
    sys.exit(1 if any(each.fault for each in found) else 0)


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in folder.rglob("*"):
            inside = path.relative_to(folder).parts
            if path.is_file() and "metadata" not in inside and not any(part.startswith(".") for part in inside):
                yield path


async def _try_all(paths: Sequence[Path]) -> list[Found]:
    waiting = iter(paths)
    found: list[Found] = []

    async def work() -> None:
        child = Child()
        try:
            for path in waiting:
                if size := path.stat().st_size:
                    found.append(await _try_one(child, path, size))
        finally:
            await child.stop()

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return sorted(found, key=lambda each: each.path)


async def _try_one(child: Child, path: Path, size: int) -> Found:
    metadata = MetadataJob(name=path.name, size_bytes=size, now=time.time())
    job = Job(name=path.name, size_bytes=size, picture=True, metadata=metadata, redaction=True)
    with path.open("rb") as file:
        try:
            answer = await child.work(file.fileno(), job)
        except (ChildDied, ChildTooSlow) as error:
            return Found(path=str(path), kind="?", fault=f"its process ended: {type(error).__name__}")
    return _judge(path, answer)


def _judge(path: Path, answer: Answer) -> Found:
    facts, made, redaction = answer.facts, answer.made, answer.redaction
    assert facts is not None and made is not None and redaction is not None
    fault = "others get its place" if redaction.is_clear and _place_is_left(path, redaction) else ""
    return Found(
        path=str(path),
        kind=facts.format or facts.kind,
        date=facts.time.local.strftime("%Y:%m:%d %H:%M:%S") if facts.time else "",
        source=facts.time.source if facts.time else "",
        model=facts.model or "",
        has_place=facts.position is not None,
        picture=made.state if made.state == "ready" else f"{made.state}: {made.reason}",
        is_withheld=not redaction.is_clear,
        differs=list(_differences(path, facts)),
        fault=fault,
    )


def _place_is_left(path: Path, redaction: Redaction) -> bool:
    data = patched(path.read_bytes(), 0, redaction.patches)
    circumstances = Circumstances(name=path.name, now=datetime.now(UTC))
    return read_window(ByteWindow(io.BytesIO(data)), circumstances).position is not None


def _differences(path: Path, facts: MediaFacts) -> Iterator[str]:
    text = path.parent / "metadata" / "java" / f"{path.name}.txt"
    if not text.is_file():
        return
    said = text.read_text(errors="replace")
    told = {name: found[1].strip() for name, mark in _TOLD.items() if (found := re.search(mark, said))}
    # Zeros say that nobody set the clock, or that no satellite was heard.
    date = told.get("date", "0000")
    if not date.startswith("0000") and (facts.time is None or facts.time.local.strftime("%Y:%m:%d %H:%M:%S") != date):
        yield f"taken {date}"
    if (model := told.get("model", "")) and (facts.model or "") != model:
        yield f"model {model}"
    if (latitude := _degrees(told.get("latitude", ""))) and (
        facts.position is None or abs(abs(facts.position.latitude) - latitude) > 0.001
    ):
        yield f"latitude {latitude:.4f}"


def _degrees(written: str) -> float | None:
    found = _DEGREES.match(written)
    if found is None:
        return None
    degrees, minutes, seconds = (abs(float(part.replace(",", "."))) for part in found.groups())
    return degrees + minutes / 60 + seconds / 3600


def _report(found: Sequence[Found]) -> Iterator[str]:
    heads = ("files", "dated", "camera", "place", "picture", "withheld", "differ")
    yield f"{'':12}" + "".join(f"{head:>10}" for head in heads)
    for kind in [*sorted({each.kind for each in found}), "all"]:
        some = [each for each in found if kind in (each.kind, "all")]
        counts = Counter[str]()
        for each in some:
            counts["files"] += 1
            counts["dated"] += bool(each.date)
            counts["camera"] += bool(each.model)
            counts["place"] += each.has_place
            counts["picture"] += each.picture == "ready"
            counts["withheld"] += each.is_withheld
            counts["differ"] += bool(each.differs)
        yield f"{kind:12}" + "".join(f"{counts[head]:>10}" for head in heads)
    for each in found:
        if each.fault or each.differs or each.picture.startswith("failed"):
            said = [each.fault, f"others say: {', '.join(each.differs)}" if each.differs else "", each.picture]
            yield f"{each.path} ({each.date or 'no date'}, {each.model or 'no camera'}): " + "; ".join(
                filter(None, said)
            )


if __name__ == "__main__":
    main()
