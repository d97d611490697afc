"""Which names files and folders may have, and how two with the same name are told apart.

A name that somebody hands in is kept as it is (`kept_name`, decision 23). `clean_name` is for names that are made here,
and for those who write files and want names that every system can store.
"""

import hashlib
import re
import unicodedata
from typing import NewType

# A name as `kept_name` or `clean_name` leaves it; everything stored is of this type.
FileName = NewType("FileName", str)

MAX_NAME_BYTES = 255
# What NTFS, APFS and ext4 can hold at most, in UTF-16.
MAX_NAME_UNITS = 255
NAMELESS = FileName("file")

# Of a key that sorts names, so much of the name that DynamoDB's limit of 1,024 bytes is never reached.
_KEY_LETTERS = 200
# No system has these in a name.
_IMPOSSIBLE = re.compile("[\0\ud800-\udfff]")

# Joiners hold emoji together and shape Persian; the tags spell the flags of Scotland and Wales.
_SEEN_THOUGH_FORMAT = re.compile("[\u200c\u200d\U000e0020-\U000e007f]")
# Control characters, marks that turn the reading direction around, halves of characters, line ends.
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# What joins or varies a character means nothing without one before it.
_EDGES = re.compile("^[.\\s\u200c\u200d\ufe00-\ufe0f\U000e0020-\U000e007f]+|[.\\s\u200c\u200d]+$")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)", re.IGNORECASE)
_EXTENSION = re.compile(r"(?<=.)((\.tar)?\.[^.\s]{1,16})\Z", re.IGNORECASE | re.DOTALL)


def kept_name(written: str) -> FileName | None:
    """The last part of a path, as it is. None if nothing is left that could be a name.

    What is longer than any system could have named it loses the end of its stem.
    """
    names = kept_path(written)
    return names[-1] if names else None


def kept_path(written: str) -> list[FileName]:
    """The parts of a path, each as it is. Those that lead upwards, to the root or nowhere are dropped."""
    parts = _IMPOSSIBLE.sub("", written).split("/")
    return [_shortened(part) for part in parts if part not in ("", ".", "..")]


# Japanese is written in either, and typed in hiragana first; in Unicode's order of words they are equal as well.
_HIRAGANA = {katakana: katakana - 0x60 for katakana in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}


def name_key(name: FileName) -> str:
    """Sorts names as people expect, without case, and differs for names that differ in anything."""
    folded_name = sameness(name)
    if folded_name == name and len(name) <= _KEY_LETTERS:
        return folded_name
    digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return f"{folded_name[:_KEY_LETTERS]}\x01{digest}"


def clean_path(written: str) -> list[FileName]:
    """The parts of a path as names, from the top down. Parts that lead upwards, to the root or nowhere are dropped."""
    return [name for part in re.split(r"[/\\]", written) if (name := clean_name(part)) is not None]


def folded(text: str) -> str:
    """Equal for texts that differ only in case, accents, width or kind of kana, which is how people search."""
    if text.isascii():
        return text.lower()
    # Taking a letter apart can leave a capital, and folding one can leave something to take apart.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return bare.casefold().translate(_HIRAGANA)


def clean_name(written: str) -> FileName | None:
    """The last part of a path as a name that every system can store. None if nothing is left.

    Folders before it, unseen characters, dots in front, dots and spaces behind are dropped; what Windows reserves for
    devices gets a `_` in front; a name that is too long loses the end of its stem. Emoji, quotes and the like stay.
    """
    seen = "".join(letter for letter in written if _is_seen(letter))
    composed = unicodedata.normalize("NFC", seen)
    parts = [part for part in map(_without_edges, re.split(r"[/\\]", composed)) if part]
    if not parts:
        return None
    name = _fitting(parts[-1], "")
    return _fitting(f"_{name}", "") if _RESERVED.match(name) else name


def numbered(name: FileName, number: int) -> FileName:
    """`name (2).ext`, for the file that came when `name.ext` and `name (1).ext` were there."""
    return _fitting(name, f" ({number})")


def kept_numbered(name: FileName, number: int) -> FileName:
    """The same for a name as `kept_name` leaves it."""
    return _shortened(name, f" ({number})")


def sameness(name: FileName) -> str:
    """Equal for names that some systems cannot tell apart: case does not count."""
    return unicodedata.normalize("NFC", name.casefold())


def _is_seen(letter: str) -> bool:
    if _SEEN_THOUGH_FORMAT.match(letter):
        return True
    # The last two code points of every plane, and 32 more, are guaranteed never to be characters.
    is_character = ord(letter) & 0xFFFE != 0xFFFE and not 0xFDD0 <= ord(letter) <= 0xFDEF
    return is_character and unicodedata.category(letter) not in _UNSEEN


def _without_edges(part: str) -> str:
    return _EDGES.sub("", part)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _shortened(name: str, addition: str = "") -> FileName:
    """The name with the addition before its extension, its stem cut only where no system could hold the whole."""
    found = _EXTENSION.search(name)
    extension = found[0] if found else ""
    stem = name[: len(name) - len(extension)]
    room = MAX_NAME_UNITS - _units(addition + extension)
    if _units(stem) > room:
        stem = stem.encode("utf-16-le")[: 2 * room].decode("utf-16-le", errors="ignore")
    return FileName(stem + addition + extension)


def _fitting(name: str, addition: str) -> FileName:
    """The name with the addition before its extension, its stem cut so that the whole stays within the limit."""
    found = _EXTENSION.search(name)
    extension = found[0] if found else ""
    stem = name[: len(name) - len(extension)]
    room = MAX_NAME_BYTES - len((addition + extension).encode())
    if len(stem.encode()) > room:
        stem = _without_edges(stem.encode()[:room].decode(errors="ignore"))
    return FileName(stem + addition + extension)
