"""Looking at files in the browser: by what their bytes prove, and never as something that runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.edge.files.previews import preview_of, shown_type
from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
HTML = b"<!doctype html><script>alert(document.domain)</script>"
SAMPLES = [
    ("a.png", "image/png", PNG, "image", "image/png"),
    ("a.png", "application/octet-stream", PNG, "image", "image/png"),
    ("a.jpg", "image/png", b"\xff\xd8\xff\xe0" + bytes(40), "image", "image/jpeg"),
    ("a.gif", "image/gif", b"GIF89a" + bytes(40), "image", "image/gif"),
    ("a.webp", "image/webp", b"RIFF\0\0\0\0WEBPVP8 ", "image", "image/webp"),
    ("a.mp3", "audio/mpeg", b"ID3\x03" + bytes(40), "audio", "audio/mpeg"),
    ("a.wav", "audio/x-wav", b"RIFF\0\0\0\0WAVEfmt ", "audio", "audio/wav"),
    ("a.flac", "audio/flac", b"fLaC" + bytes(40), "audio", "audio/flac"),
    ("a.opus", "audio/ogg", b"OggS" + bytes(24) + b"OpusHead", "audio", "audio/ogg"),
    ("a.m4a", "audio/mp4", b"\0\0\0\x20ftypM4A " + bytes(40), "audio", "audio/mp4"),
    ("a.mp4", "video/mp4", b"\0\0\0\x20ftypisom" + bytes(40), "video", "video/mp4"),
    ("a.webm", "video/webm", b"\x1a\x45\xdf\xa3" + bytes(40), "video", "video/webm"),
    ("a.pdf", "application/pdf", b"%PDF-1.7\n" + bytes(40), "pdf", "application/pdf"),
]


@pytest.mark.parametrize(("name", "declared", "content", "kind", "shown"), SAMPLES)
async def test_what_can_be_shown_is_shown_by_what_its_bytes_prove(
    satchel: Satchel, ann: Caller, name: str, declared: str, content: bytes, kind: str, shown: str
) -> None:
    file = await uploaded(satchel, ann, name, content, declared)
    path = f"/shelf/files/{file.file_id}"
    assert (await ann("GET", path)).json()["previewable"] == kind
    answer = await ann("GET", f"{path}/preview")
    assert (answer.status_code, answer.headers["content-type"], answer.content) == (200, shown, content)
    assert answer.headers["content-disposition"] == "inline"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert ("sandbox" in policy) == (kind != "pdf")
    part = await ann("GET", f"{path}/preview", headers={"range": "bytes=1-4"})
    assert (part.status_code, part.content, part.headers["content-type"]) == (206, content[1:5], shown)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("page.html", "text/html"),
        ("drawing.svg", "image/svg+xml"),
        ("page.xhtml", "application/xhtml+xml"),
        ("code.js", "application/javascript"),
        ("notes.md", "application/octet-stream"),
        ("notes.txt", "text/plain; charset=utf-16"),
    ],
)
async def test_active_content_is_shown_as_plain_text(satchel: Satchel, ann: Caller, name: str, declared: str) -> None:
    file = await uploaded(satchel, ann, name, HTML, declared)
    answer = await ann("GET", f"/shelf/files/{file.file_id}/preview")
    assert (answer.content, answer.headers["content-type"]) == (HTML, "text/plain; charset=utf-8")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert (answer.headers["content-disposition"], answer.headers["x-content-type-options"]) == ("inline", "nosniff")


@pytest.mark.parametrize(
    ("name", "declared", "content"),
    [
        ("polyglot.png", "image/png", HTML),
        ("polyglot.pdf", "application/pdf", HTML),
        ("polyglot.mp3", "audio/mpeg", HTML),
        ("picture.png", "image/png", b"%PDF-1.7"),
        ("text.txt", "text/plain", b"MZ\0\0"),
        ("program.exe", "application/octet-stream", b"MZ"),
        ("archive.zip", "application/zip", b"PK\3\4"),
        ("empty.png", "image/png", b""),
    ],
)
async def test_what_is_not_what_it_says_is_not_shown(
    satchel: Satchel, ann: Caller, name: str, declared: str, content: bytes
) -> None:
    file = await uploaded(satchel, ann, name, content, declared)
    refused = await ann("GET", f"/shelf/files/{file.file_id}/preview")
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems#no-preview")


async def test_long_text_is_cut_and_what_is_no_text_is_replaced(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"\xff" + "é".encode() * 1024 * 1024)
    shown = (await ann("GET", f"/shelf/files/{file.file_id}/preview")).text
    assert shown[:3] == "\ufffdéé"
    assert len(shown) == 1 + (1024 * 1024 - 1 + 1) // 2


@given(st.text(max_size=40), st.text(max_size=40), st.binary(max_size=60))
def test_nothing_is_ever_shown_as_a_document_that_could_run(name: str, declared: str, head: bytes) -> None:
    wanted = preview_of(name, declared)
    if wanted is None:
        return
    shown = shown_type(wanted, head)
    assert shown is None or shown.startswith(("image/", "audio/", "video/", "application/pdf", "text/plain;"))
    assert shown != "image/svg+xml"
