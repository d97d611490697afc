"""The messages about sheet music between the server and the process that renders it."""

from typing import Literal

import msgspec

SourceKind = Literal["pdf", "musicxml", "mxl", "mei", "abc", "png", "jpeg"]
PageKind = Literal["png", "jpeg", "svg"]
Refusal = Literal["score-encrypted", "score-broken", "score-too-many-pages", "score-too-large", "score-too-slow"]

MAX_PAGES = 200


class PageOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How pages are made. `width` is in pixels. The others are for engraved music.

    `transpose` is what Verovio understands: semitones as `-2`, or an interval as `M2`. `parts` are names or numbers
    (from 1) of those that are wanted; none means all. `scale` is the size of staves in per cent of 7 mm; 0 means one
    that suits the number of parts.
    """

    width: int = 1654
    transpose: str = ""
    parts: tuple[str, ...] = ()
    scale: int = 0


class SourceFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a source says of itself. A movement is a name and a page, counted from 0."""

    pages: int
    title: str = ""
    composer: str = ""
    parts: list[str] = []
    movements: list[tuple[str, int]] = []


class MadePage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One page. `number` counts from 0. `map` is JSON, and says where parts, bars and beats of engraved music are."""

    number: int
    kind: PageKind
    body: bytes
    width: int
    height: int
    map: bytes = b""


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """Why nothing more comes."""

    slug: Refusal
    reason: str


class FactsJob(msgspec.Struct, frozen=True, kw_only=True, tag="facts"):
    """Only what the source says of itself."""

    kind: SourceKind
    options: PageOptions = PageOptions()


class PagesJob(msgspec.Struct, frozen=True, kw_only=True, tag="pages"):
    """Pages from `first` on, leaving out so many that each of several processes makes every `step`th one."""

    kind: SourceKind
    first: int = 0
    step: int = 1
    options: PageOptions = PageOptions()


class PlaybackJob(msgspec.Struct, frozen=True, kw_only=True, tag="playback"):
    """What a player needs of engraved music."""

    kind: SourceKind
    options: PageOptions = PageOptions()


class StraightenJob(msgspec.Struct, frozen=True, kw_only=True, tag="straighten"):
    """A photo of a page, to be straightened and cropped."""


class ExportJob(msgspec.Struct, frozen=True, kw_only=True, tag="export"):
    """A PDF of the pages in the file, at the beginning of which so many bytes say how."""

    plan_bytes: int


ScoreJob = ExportJob | FactsJob | PagesJob | PlaybackJob | StraightenJob


class FactsAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="facts"):
    """What a source says of itself."""

    facts: SourceFacts


class PageAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="page"):
    """One page."""

    page: MadePage


class BytesAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="bytes"):
    """A piece of a document that is too long for one message."""

    body: bytes


class DoneAnswer(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Nothing more comes."""


ScoreAnswer = FactsAnswer | PageAnswer | BytesAnswer | DoneAnswer | Refused
