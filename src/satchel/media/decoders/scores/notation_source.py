"""Notation as text that Verovio takes: unpacked, decoded, checked, and of the wanted parts only."""

import re
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Literal
from xml.etree import ElementTree

from satchel.media.decoders.scores.notation_check import Outline, Part, outline_of
from satchel.media.decoders.scores.refusal import ScoreRefused
from satchel.media.score_jobs import SourceKind
from satchel.media.score_titles import tidy, worth

Format = Literal["musicxml", "mei", "abc"]

MAX_BYTES = 64 * 1024 * 1024
_MAX_ENTRIES = 1_000
_MAX_CONTAINER_BYTES = 64 * 1024
_DECLARATION = re.compile(rb"\A\s*<\?xml[^>]*?\?>")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_ROOTFILE = re.compile(r"<(?:\w+:)?rootfile\b[^>]*?full-path\s*=\s*[\"']([^\"']+)[\"']")


@dataclass(frozen=True)
class Notation:
    """Checked music. `parts` are those of MusicXML; of other formats Verovio says them."""

    form: Format
    text: str
    title: str
    composer: str
    parts: list[Part]


def read_notation(file: BinaryIO, size_bytes: int, kind: SourceKind, wanted: Sequence[str]) -> Notation:
    """The music in a file; of MusicXML only the wanted parts, by their names or numbers."""
    if not 0 < size_bytes <= MAX_BYTES:
        raise ScoreRefused("score-too-large", f"The file has {size_bytes} bytes. Of notation, {MAX_BYTES} are read.")
    file.seek(0)
    data = _unpacked(file) if kind == "mxl" else file.read(size_bytes)
    if kind == "abc":
        return _abc(data)
    data = _in_utf8(data)
    outline = outline_of(data)
    if outline.root == "score-timewise":
        data = _partwise(data)
        outline = outline_of(data)
    form: Format = "mei" if outline.root == "mei" else "musicxml"
    kept = list(outline.parts.values())
    if form == "musicxml" and wanted:
        kept = _chosen(kept, wanted)
        data = _without(data, outline, kept)
    title = worth(outline.title) or worth(outline.movement)
    return Notation(form, data.decode(), title, tidy(outline.composer), kept)


def chosen(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The places of the wanted parts among all, by their names or their numbers from 1."""
    folded = [name.casefold() for name in names]
    places: list[int] = []
    for each in wanted:
        if each.casefold() in folded:
            places.append(folded.index(each.casefold()))
        elif each.isdecimal() and 1 <= int(each) <= len(names):
            places.append(int(each) - 1)
        else:
            listed = ", ".join(names)[:200]
            raise ScoreRefused("score-broken", f"The music has no part “{each[:64]}”. It has: {listed}.")
    return sorted(set(places))


def _chosen(parts: list[Part], wanted: Sequence[str]) -> list[Part]:
    return [parts[place] for place in chosen([part.name or part.part_id for part in parts], wanted)]


def _abc(data: bytes) -> Notation:
    text = data.decode("utf-8-sig", "replace")

    def said(letter: str) -> str:
        found = re.search(rf"^{letter}:(.*)$", text, re.MULTILINE)
        return "" if found is None else tidy(found[1].partition("%")[0])

    if not re.search(r"^K:", text, re.MULTILINE):
        raise ScoreRefused("score-broken", "The ABC has no key (a line `K:`), after which the notes would begin.")
    return Notation("abc", text, said("T"), said("C"), [])


def _unpacked(file: BinaryIO) -> bytes:
    try:
        with zipfile.ZipFile(file) as archive:
            if len(archive.infolist()) > _MAX_ENTRIES:
                raise ScoreRefused("score-too-large", "The .mxl file has more files in it than music has.")
            return _entry(archive, _root_file(archive), MAX_BYTES)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, KeyError) as error:
        raise ScoreRefused(
            "score-broken", "The .mxl file is damaged, or has no music in it. Export it anew."
        ) from error


def _root_file(archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    if "META-INF/container.xml" in names:
        container = _entry(archive, "META-INF/container.xml", _MAX_CONTAINER_BYTES).decode("utf-8", "replace")
        found = _ROOTFILE.search(container)
        if found is not None and found[1] in names:
            return found[1]
    return next(
        name for name in [*names, ""] if not name.startswith("META-INF/") and name.endswith((".musicxml", ".xml", ""))
    )


def _entry(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    with archive.open(name) as packed:
        data = packed.read(most + 1)
    if len(data) > most:
        raise ScoreRefused("score-too-large", f"The .mxl file unpacks to more than {most} bytes.")
    return data


def _in_utf8(data: bytes) -> bytes:
    """The document in UTF-8, without a declaration that says otherwise."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    else:
        head = _DECLARATION.match(data.removeprefix(b"\xef\xbb\xbf"))
        named = None if head is None else _ENCODING.search(head[0])
        encoding = "utf-8-sig" if named is None or named[1].lower() in (b"utf-8", b"utf8") else named[1].decode()
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise ScoreRefused(
            "score-broken", f"The file says that it is in {encoding.removesuffix('-sig').upper()}, but is not."
        ) from error
    return b'<?xml version="1.0" encoding="UTF-8"?>' + _DECLARATION.sub(b"", text.encode())


def _without(data: bytes, outline: Outline, kept: list[Part]) -> bytes:
    """The document without the other parts, cut out of its text."""
    gone = [place for part in outline.parts.values() if part not in kept for place in part.ranges] + outline.groups
    pieces: list[bytes] = []
    position = 0
    for start, stop in sorted(gone):
        pieces.append(data[position:start])
        position = stop
    return b"".join((*pieces, data[position:]))


def _partwise(data: bytes) -> bytes:
    """Verovio reads scores by parts only; here the same music is by bars."""
    root = ElementTree.fromstring(data)  # noqa: S314 -- entities were refused
    root.tag = "score-partwise"
    parts: dict[str, ElementTree.Element] = {}
    for measure in root.findall("measure"):
        for piece in measure.findall("part"):
            part = parts.setdefault(piece.get("id", ""), ElementTree.Element("part", {"id": piece.get("id", "")}))
            bar = ElementTree.SubElement(part, "measure", dict(measure.attrib))
            bar.extend(list(piece))
        root.remove(measure)
    root.extend(parts.values())
    return ElementTree.tostring(root)
