"""What kind of sheet music a file is, by its first bytes. The name is only a hint where these say little."""

import re

from satchel.media.score_jobs import SourceKind

HEAD_BYTES = 4096

_MUSICXML = re.compile(r"<(?:\w+:)?score-(?:partwise|timewise)[\s>]")
_MUSICXML_DOCTYPE = re.compile(r"<!DOCTYPE\s+score-(?:partwise|timewise)[\s>]")
_MEI = re.compile(r"<(?:\w+:)?mei[\s>]")
_ABC = re.compile(r"\A(?:%[^\n]*\n|\s*\n|[A-Z]:[^\n]*\n)*?X:\s*\d+")
_JPEG, _PNG, _ZIP, _PDF = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"%PDF-"
_XML_ENDINGS: dict[str, SourceKind] = {"musicxml": "musicxml", "mei": "mei"}


def source_kind(head: bytes, name: str) -> SourceKind | None:
    """None for what is no sheet music. `head` are the first 4 KB."""
    if head.startswith(_PNG):
        return "png"
    if head.startswith(_JPEG):
        return "jpeg"
    # Readers accept what stands before it, as mail programs and printers leave it there.
    if _PDF in head[:1024]:
        return "pdf"
    ending = name.rpartition(".")[2].lower()
    if head.startswith(_ZIP):
        return "mxl" if ending == "mxl" or b"META-INF/container.xml" in head or b".musicxml" in head[:200] else None
    text = _text(head)
    if text.lstrip().startswith("<"):
        return _xml_kind(text, ending)
    return "abc" if _ABC.match(text.lstrip("\ufeff")) else None


def _xml_kind(text: str, ending: str) -> SourceKind | None:
    if _MUSICXML.search(text) or _MUSICXML_DOCTYPE.search(text):
        return "musicxml"
    if _MEI.search(text):
        return "mei"
    # A long comment may stand before the first element.
    return _XML_ENDINGS.get(ending)


def _text(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace")
    return head.decode("utf-8-sig", "replace")
