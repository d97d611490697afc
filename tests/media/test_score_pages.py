"""Pages of sheet music: facts first, then page by page in order, and a clear reason for every file that has none."""

import json
import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from satchel.media.score_pages import (
    MadePage,
    PageOptions,
    PageSource,
    PagesRefused,
    ScorePages,
    SourceFacts,
    guess_title,
    source_kind,
)
from satchel.stores.ports.objects import SmallObject
from tests.application import Satchel, running_satchel
from tests.media.made_scores import ABC, locked_pdf, musicxml, mxl, page_photo, pdf
from tests.media.samples import jpeg, png, vips

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


@pytest.fixture
async def satchel(tmp_path: Path) -> AsyncGenerator[Satchel]:
    async with running_satchel(tmp_path) as running:
        yield running


@pytest.fixture
async def pages(satchel: Satchel) -> AsyncGenerator[ScorePages]:
    made = ScorePages(satchel.stores.objects, children=2)
    yield made
    await made.close()


async def kept(satchel: Satchel, name: str, content: bytes) -> PageSource:
    await satchel.stores.objects.put_many([SmallObject(f"scores/{name}", content)])
    kind = source_kind(content[:4096], name)
    assert kind is not None
    return PageSource(f"scores/{name}", name, kind)


async def made_of(
    pages: ScorePages, source: PageSource, options: PageOptions | None = None, first: int = 0
) -> tuple[SourceFacts, list[MadePage]]:
    async with aclosing(pages.make(source, options, first)) as making:
        made = [each async for each in making]
    facts, *rest = made
    assert isinstance(facts, SourceFacts)
    return facts, [each for each in rest if isinstance(each, MadePage)]


async def refused(satchel: Satchel, pages: ScorePages, name: str, content: bytes) -> PagesRefused:
    source = await kept(satchel, name, content)
    with pytest.raises(PagesRefused) as caught:
        await made_of(pages, source)
    return caught.value


def black_share(page: MadePage) -> float:
    image: Any = vips.Image.new_from_buffer(page.body, "")
    return 1 - image.colourspace("b-w").avg() / 255


async def test_pages_of_a_pdf_come_in_order_from_both_processes(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "Bach - Air.pdf", pdf(7, title="Air on the G string"))
    facts, made = await made_of(pages, source, PageOptions(width=420))
    assert (facts.pages, facts.title, facts.composer) == (7, "Air on the G string", "Ann Bach")
    assert [page.number for page in made] == list(range(7))
    assert {(page.width, page.height, page.kind) for page in made} == {(420, 595, "png")}
    # The box on each page is larger than on the one before.
    shares = [black_share(page) for page in made]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    assert all(child.process_id is not None for child in pages.children)
    _, rest = await made_of(pages, source, PageOptions(width=420), first=5)
    assert rest == made[5:]


async def test_scanned_pages_are_jpeg_and_drawn_ones_png(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "03 - scan.pdf", pdf(1, title="untitled", scanned=True))
    facts, (page,) = await made_of(pages, source, PageOptions(width=420))
    assert (page.kind, facts.title) == ("jpeg", "scan")
    assert (page.width, page.height) == (420, 595)


async def test_who_stops_after_the_first_page_leaves_processes_that_work(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "air.pdf", pdf(9))
    async with aclosing(pages.make(source)) as making:
        assert isinstance(await anext(making), SourceFacts)
        assert isinstance(await anext(making), MadePage)
    facts, made = await made_of(pages, source, PageOptions(width=100))
    assert facts.pages == len(made) == 9


async def test_a_killed_process_costs_its_file_and_no_other(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "air.pdf", pdf(40))
    with pytest.raises(PagesRefused):
        async with aclosing(pages.make(source)) as making:
            async for made in making:
                if isinstance(made, MadePage):
                    for child in pages.children:
                        if child.process_id is not None:
                            os.kill(child.process_id, signal.SIGKILL)
    assert len((await made_of(pages, source, PageOptions(width=50)))[1]) == 40


async def test_a_pdf_without_pages_says_why(satchel: Satchel, pages: ScorePages) -> None:
    for name, content, slug, words in (
        ("locked.pdf", locked_pdf(), "score-encrypted", "password"),
        ("half.pdf", pdf(3)[:150], "score-broken", "damaged"),
        ("empty.pdf", b"%PDF-1.4 nothing else", "score-broken", "damaged"),
        ("long.pdf", pdf(2000), "score-too-many-pages", "2000 pages"),
    ):
        error = await refused(satchel, pages, name, content)
        assert (error.slug, words in error.detail) == (slug, True), name


async def test_a_page_as_large_as_a_bomb_is_drawn_small(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "bomb.pdf", pdf(1).replace(b"0 0 420 595", b"0 0 3 99999"))
    _, (page,) = await made_of(pages, source)
    assert page.height <= 8192 and page.width * page.height <= 24_000_000


async def test_music_is_engraved_with_its_parts_and_the_places_of_its_beats(
    satchel: Satchel, pages: ScorePages
) -> None:
    source = await kept(satchel, "air.musicxml", musicxml())
    facts, (page,) = await made_of(pages, source)
    assert (facts.pages, facts.title, facts.composer, facts.parts) == (1, "Air", "Ann Bach", ["Flute", "Viola"])
    bars = json.loads(page.map)["bars"]
    assert [(bar["bar"], bar["number"]) for bar in bars] == [(0, "1"), (1, "2"), (2, "3"), (3, "4")]
    assert [beat for beat, _ in bars[1]["beats"]] == [0, 1, 2, 3]
    x, y, width, height = bars[1]["box"]
    assert all(x <= at <= x + width for _, at in bars[1]["beats"])
    assert [staff["part"] for staff in bars[1]["staves"]] == [0, 1]
    assert bars[1]["staves"][0]["y"] == y < bars[1]["staves"][1]["y"] < y + height <= 10_000
    again = await made_of(pages, source)
    assert again[1] == [page]


async def test_one_part_alone_and_transposed(satchel: Satchel, pages: ScorePages) -> None:
    for name, content in (("air.musicxml", musicxml()), ("air.mei", mei())):
        source = await kept(satchel, name, content)
        facts, (page,) = await made_of(pages, source, PageOptions(parts=("viola",), transpose="M2"))
        assert facts.parts == ["Viola"]
        assert {len(bar["staves"]) for bar in json.loads(page.map)["bars"]} == {1}
        played = json.loads(await pages.playback(source, PageOptions(parts=("2",), transpose="M2")))
        plain = json.loads(await pages.playback(source, PageOptions(parts=("2",))))
        # F sharp is in the key, and the notes are natural: a whole tone higher they are as natural.
        assert [note[2] for note in played["notes"]] == [note[2] + 2 for note in plain["notes"]]
        with pytest.raises(PagesRefused, match="It has: Flute, Viola"):
            await made_of(pages, source, PageOptions(parts=("Tuba",)))


def mei() -> bytes:
    """The same music in the other format, as Verovio writes it."""
    toolkit: Any = import_module("verovio").toolkit()
    toolkit.setOptions({"inputFrom": "musicxml"})
    assert toolkit.loadData(musicxml().decode())
    return toolkit.getMEI({}).encode()


async def test_playback_repeats_what_is_repeated_and_moves_a_cursor(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "air.mxl", mxl(musicxml(bars=2)))
    played = json.loads(await pages.playback(source))
    # Two parts of two bars, twice, at two beats a second.
    assert len(played["notes"]) == 2 * 8 * 2
    assert played["length_ms"] == 8_000
    assert played["notes"][0][:4] == [0, 500, 60, 0]
    assert {note[3] for note in played["notes"]} == {0, 1}
    assert [bar for _, bar, _ in played["moments"]] == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4
    assert [beat for _, _, beat in played["moments"]] == [0, 1000, 2000, 3000] * 4
    assert [when for when, _, _ in played["moments"]] == list(range(0, 8_000, 500))


async def test_abc_is_engraved(satchel: Satchel, pages: ScorePages) -> None:
    facts, (page,) = await made_of(pages, await kept(satchel, "tune.abc", ABC))
    assert (facts.title, facts.composer) == ("Speed the Plough", "Trad.")
    assert len(json.loads(page.map)["bars"]) == 4


async def test_music_by_bars_is_the_same_as_by_parts(satchel: Satchel, pages: ScorePages) -> None:
    bars = re.findall(r"<measure.*?</measure>", musicxml(("Flute",)).decode())
    timewise = re.sub(
        r'<part id="P1">.*</part>',
        "".join(re.sub(r"(<measure[^>]*>)(.*)(</measure>)", r'\1<part id="P1">\2</part>\3', bar) for bar in bars),
        musicxml(("Flute",)).decode(),
    ).replace("score-partwise", "score-timewise")
    _, made = await made_of(pages, await kept(satchel, "timewise.xml", timewise.encode()))
    _, expected = await made_of(pages, await kept(satchel, "partwise.xml", musicxml(("Flute",))))
    assert json.loads(made[0].map) == json.loads(expected[0].map)


async def test_music_in_utf_16_is_read(satchel: Satchel, pages: ScorePages) -> None:
    content = musicxml(title="交響曲").decode().replace("UTF-8", "UTF-16").encode("utf-16")
    facts, _ = await made_of(pages, await kept(satchel, "wide.xml", content))
    assert facts.title == "交響曲"


async def test_a_page_has_neither_scripts_nor_addresses(satchel: Satchel, pages: ScorePages) -> None:
    title = '&lt;script&gt;alert(1)&lt;/script&gt;&lt;image href="http://evil.test/"/&gt;'
    _, (page,) = await made_of(pages, await kept(satchel, "evil.musicxml", musicxml(title=title)))
    body = page.body.decode()
    assert "&lt;script&gt;" in body
    elements = list(ElementTree.fromstring(body).iter())
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert names <= {"svg", "defs", "g", "path", "use", "text", "polygon", "rect", "ellipse"}
    attributes = {name: value for element in elements for name, value in element.attrib.items()}
    assert not [name for name in attributes if name == "style" or name.startswith("on")]
    assert all(element.get("href", "#").startswith("#") for element in elements)


_ENTITIES = '<!DOCTYPE score-partwise [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_FILE = '<!DOCTYPE score-partwise [<!ENTITY xxe SYSTEM "file:///etc/passwd">]>'


def _with_doctype(doctype: str, title: str) -> bytes:
    return re.sub(r"<!DOCTYPE.*?>", doctype, musicxml(title=title).decode(), count=1).encode()


_BROKEN = [
    ("half.musicxml", musicxml()[:2000], "score-broken", "breaks off at line 1"),
    ("cross.musicxml", musicxml().replace(b"</part>", b"</prat>", 1), "score-broken", "mismatched tag"),
    ("bomb.musicxml", _with_doctype(_ENTITIES, "&b;"), "score-broken", "entities"),
    ("file.musicxml", _with_doctype(_FILE, "&xxe;"), "score-broken", "entities"),
    ("deep.musicxml", musicxml(extra="<a>" * 500 + "</a>" * 500), "score-too-large", "deeper"),
    ("bare.musicxml", b"<score-partwise><part-list/></score-partwise>", "score-broken", "no bar"),
    ("gone.musicxml", re.sub(rb'<part id="P2">.*?</part>', b"", musicxml()), "score-broken", "“Viola” is listed"),
    ("bomb.mxl", mxl(b"<score-partwise>" + b" " * 65 * 2**20), "score-too-large", "unpacks"),
    ("half.mxl", mxl(musicxml())[:400], "score-broken", "damaged"),
    ("none.abc", b"X:1\nT:Silence\n", "score-broken", "key"),
    ("half.mei", b'<mei xmlns="http://www.music-encoding.org/ns/mei"><music>', "score-broken", "breaks off"),
]


async def test_broken_music_says_what_is_wrong(satchel: Satchel, pages: ScorePages) -> None:
    for name, content, slug, words in _BROKEN:
        error = await refused(satchel, pages, name, content)
        assert (error.slug, words in error.detail) == (slug, True), (name, error.detail)


async def test_a_photo_of_a_page_is_cropped_and_straightened(satchel: Satchel, pages: ScorePages) -> None:
    source = await kept(satchel, "photo.jpg", page_photo())
    page = await pages.straighten(source.key)
    assert abs(page.width - 900) < 40 and abs(page.height - 1270) < 40
    image: Any = vips.Image.new_from_buffer(page.body, "").colourspace("b-w")
    # The table is gone, and a line of a staff is dark from end to end in few rows.
    assert min(image.crop(0, 0, image.width, 20).avg(), image.crop(0, 0, 20, image.height).avg()) > 200
    _, rows = (255 - image.crop(100, 80, 600, 200)).project()
    assert rows.max() > 600 * 120


async def test_a_picture_without_a_sheet_in_it_stays_as_it_is(satchel: Satchel, pages: ScorePages) -> None:
    for content in (jpeg(), png()):
        source = await kept(satchel, "flag", content)
        assert (await pages.straighten(source.key)).body == content


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Bach - Air.pdf", ("Air", "Bach")),
        ("scores/Bach, Johann Sebastian - Air on the G string.pdf", ("Air on the G string", "Johann Sebastian Bach")),
        ("IMSLP12345-PMLP54321-Brahms_Symphony_No.4.pdf", ("Brahms Symphony No.4", "")),
        ("03 - Ave verum (2).mxl", ("Ave verum", "")),
        ("ave-verum-corpus.musicxml", ("ave verum corpus", "")),
        ("交響曲.mxl", ("交響曲", "")),
        ("7.pdf", ("7", "")),
        (".pdf", (".pdf", "")),
    ],
)
def test_a_name_suggests_title_and_composer(name: str, expected: tuple[str, str]) -> None:
    assert guess_title(name) == expected


def test_a_file_is_what_its_first_bytes_say() -> None:
    assert source_kind(musicxml()[:4096], "x.txt") == "musicxml"
    assert source_kind(mxl(musicxml())[:4096], "x.zip") == "mxl"
    assert source_kind(ABC, "tune.txt") == "abc"
    assert source_kind(b"<html><body>", "x.mei.html") is None
    assert source_kind(b"PK\x03\x04photos", "x.zip") is None
    assert source_kind(b"hello", "x.abc") is None
