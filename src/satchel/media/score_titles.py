"""The title and the composer that a file's name suggests, for bulk imports."""

import re
import unicodedata

MAX_CHARACTERS = 128

_ENDING = re.compile(r"\.(?:pdf|musicxml|mxl|xml|mei|abc|png|jpe?g)\Z", re.IGNORECASE)
_LIBRARY_NUMBER = re.compile(r"\A(?:IMSLP|PMLP)\d+[-_ ]*(?:(?:IMSLP|PMLP)\d+[-_ ]*)*", re.IGNORECASE)
_COPY = re.compile(r"\s*(?:\(\d{1,2}\)|- (?:copy|Kopie))\Z", re.IGNORECASE)
_ORDER = re.compile(r"\A\d{1,3}(?:[.)]\s*|\s*[-–—]\s+|_+)(?=\D)")
_DASH = re.compile(r"\s+[-–—]\s+")
# What programs write as a title when nobody gave one.
_NO_TITLE = re.compile(
    r"\A(?:untitled|title|score|microsoft word.*|document\d*|scan[\d_ -]*|img[\d_ -]*|\W*"
    r"|.*\.(?:sib|musx|mscz|ly|dvi|indd))\Z",
    re.IGNORECASE,
)


def guess_title(name: str) -> tuple[str, str]:
    """Title and composer by the name of a file. The composer is empty if the name does not say one.

    `Bach - Air.pdf` and `Bach, Johann Sebastian - Air.pdf` name the composer first, as most collections do.
    """
    stem = _ENDING.sub("", name.replace("\\", "/").rpartition("/")[2])
    stem = _COPY.sub("", _LIBRARY_NUMBER.sub("", unicodedata.normalize("NFC", stem)))
    if " " not in stem:
        stem = stem.replace("_", " ")
        if stem.count("-") > 1:
            stem = stem.replace("-", " ")
    stem = _ORDER.sub("", stem.strip())
    first, dash, rest = _split(stem)
    composer, title = (first, rest) if dash else ("", stem)
    return tidy(title) or tidy(name), tidy(_turned(composer))


def worth(title: str) -> str:
    """The title that a document has of itself, or nothing if a program made it up."""
    tidied = tidy(title)
    return "" if _NO_TITLE.match(tidied) else tidied


def tidy(text: str) -> str:
    """One line without control characters, no longer than a title may be."""
    plain = "".join(" " if unicodedata.category(each) in ("Cc", "Zl", "Zp") else each for each in text)
    return " ".join(plain.split())[:MAX_CHARACTERS].strip()


def _split(stem: str) -> tuple[str, bool, str]:
    parts = _DASH.split(stem, maxsplit=1)
    if len(parts) == 2 and all(part.strip() for part in parts):
        return parts[0], True, parts[1]
    return stem, False, ""


def _turned(composer: str) -> str:
    """`Bach, Johann Sebastian` as people say it."""
    family, comma, given = composer.partition(",")
    return f"{given.strip()} {family.strip()}" if comma and given.strip() else composer
