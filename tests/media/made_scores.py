"""Sheet music that tests make: MusicXML, ABC, MEI and PDFs of a few pages."""

import io
import zipfile
from collections.abc import Sequence
from importlib import import_module
from typing import Any

# None of these has types.
pdfium: Any = import_module("pypdfium2")
vips: Any = import_module("pyvips")

ABC = b"X:1\nT:Speed the Plough\nC:Trad.\nM:4/4\nL:1/8\nK:G\n|:GABc dedB|dedB dedB|c2ec B2dB|A2A2 A2BA:|\n"
_STEPS = "CDEFGAB"


def musicxml(parts: Sequence[str] = ("Flute", "Viola"), bars: int = 4, title: str = "Air", extra: str = "") -> bytes:
    """Quarter notes up the scale, repeated once from the beginning, in G major at 120 a minute."""
    listed = "".join(
        f'<score-part id="P{number}"><part-name>{name}</part-name></score-part>' for number, name in enumerate(parts, 1)
    )
    bodies = "".join(f'<part id="P{number}">{_bars(bars, number)}</part>' for number in range(1, len(parts) + 1))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<!DOCTYPE score-partwise PUBLIC "-//Recordare//DTD MusicXML 4.0 Partwise//EN" "http://www.musicxml.org/dtds/partwise.dtd">'
        f'<score-partwise version="4.0"><work><work-title>{title}</work-title></work>'
        '<identification><creator type="composer">Ann Bach</creator></identification>'
        f"<part-list>{listed}</part-list>{bodies}{extra}</score-partwise>"
    ).encode()


def _bars(count: int, part: int) -> str:
    first = (
        "<attributes><divisions>1</divisions><key><fifths>1</fifths></key><time><beats>4</beats><beat-type>4</beat-type>"
        "</time><clef><sign>G</sign><line>2</line></clef></attributes>"
        '<direction placement="above"><direction-type><metronome><beat-unit>quarter</beat-unit>'
        '<per-minute>120</per-minute></metronome></direction-type><sound tempo="120"/></direction>'
    )
    last = '<barline location="right"><bar-style>light-heavy</bar-style><repeat direction="backward"/></barline>'
    notes = (
        "".join(
            f"<note><pitch><step>{_STEPS[(bar + beat) % 7]}</step><octave>{3 + part}</octave></pitch>"
            "<duration>1</duration><type>quarter</type></note>"
            for beat in range(4)
        )
        for bar in range(count)
    )
    return "".join(
        f'<measure number="{bar + 1}">{first if bar == 0 else ""}{body}{last if bar == count - 1 else ""}</measure>'
        for bar, body in enumerate(notes)
    )


def mxl(content: bytes, name: str = "score.musicxml") -> bytes:
    container = f'<container><rootfiles><rootfile full-path="{name}"/></rootfiles></container>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", container)
        archive.writestr(name, content)
    return packed.getvalue()


def pdf(pages: int = 3, title: str = "", *, scanned: bool = False) -> bytes:
    """Pages with a box that grows from page to page; scanned ones are a photo of noise."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {pages}/Kids[{' '.join(f'{number * 2 + 4} 0 R' for number in range(pages))}]>>",
        f"<</Title({title})/Author(Ann Bach)>>",
    ]
    for number in range(pages):
        content = f"0 0 0 rg 50 50 {20 * (number % 20 + 1)} 30 re f"
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 595]/Contents {number * 2 + 5} 0 R/Resources<<>>>>")
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    plain = _document(objects)
    return scanned_pdf(plain) if scanned else plain


def _document(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info 3 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def scanned_pdf(plain: bytes, scale: float = 2) -> bytes:
    """The same pages as a scanner sees them, so many pixels a point."""
    source, target = pdfium.PdfDocument(plain), pdfium.PdfDocument.new()
    for number in range(len(source)):
        pixels = source[number].render(scale=scale, grayscale=True)
        image = vips.Image.new_from_memory(bytes(pixels.buffer), pixels.stride, pixels.height, 1, "uchar")
        grain = vips.Image.gaussnoise(image.width, image.height, sigma=6, mean=0, seed=number)
        jpeg = (image * 0.85 + 20 + grain).cast("uchar").copy(interpretation="b-w").jpegsave_buffer(Q=75)
        width, height = source[number].get_size()
        page, placed = target.new_page(width, height), pdfium.PdfImage.new(target)
        placed.load_jpeg(io.BytesIO(jpeg), inline=True)
        placed.set_matrix(pdfium.PdfMatrix().scale(width, height))
        page.insert_obj(placed)
        page.gen_content()
    out = io.BytesIO()
    target.save(out)
    return out.getvalue()


def locked_pdf() -> bytes:
    """A PDF that wants a password: its trailer names an encryption, whose keys are of no use."""
    plain = pdf(1)
    lock = b"<</Filter/Standard/V 1/R 2/O(" + b"o" * 32 + b")/U(" + b"u" * 32 + b")/P -4>>"
    return plain.replace(b"/Info 3 0 R", b"/Encrypt " + lock + b"/ID[(aaaaaaaaaaaaaaaa)(aaaaaaaaaaaaaaaa)]")


def page_photo(angle: float = 4) -> bytes:
    """A sheet with staves, lying askew on a dark table."""
    sheet = vips.Image.black(900, 1270).linear(1, 245).cast("uchar").copy(interpretation="b-w")
    for staff in range(8):
        for line in range(5):
            sheet = sheet.draw_rect(20, 90, 100 + staff * 140 + line * 12, 720, 3, fill=True)
    table = vips.Image.black(1400, 1700).linear(1, 60).cast("uchar").copy(interpretation="b-w")
    turned = sheet.bandjoin(255).copy(interpretation="b-w").rotate(angle)
    photo = table.bandjoin(255).copy(interpretation="b-w").composite(turned, "over", x=150, y=150).flatten()
    grain = vips.Image.gaussnoise(photo.width, photo.height, sigma=4, mean=0, seed=1)
    return bytes((photo[0] + grain).cast("uchar").copy(interpretation="b-w").jpegsave_buffer(Q=85))
