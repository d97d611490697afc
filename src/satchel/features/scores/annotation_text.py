"""Where the text of an annotation stands in the chunks: 200 slots in a chunk, and pieces of up to 240 characters.

Lengths are in code points. A cut never comes between a letter and the marks that belong to it, so that each piece can
be read by itself; only where those are longer than a piece, it does.
"""

import unicodedata

PIECE_CHARACTERS = 240
MAX_PIECES = 10
MAX_CHARACTERS = PIECE_CHARACTERS * MAX_PIECES
SLOTS_PER_CHUNK = 200
MAX_SLOTS = 20_000
_JOINER = "\u200d"


def chunk_of(slot: int, piece: int) -> str:
    """Two digits for the slots, one for the piece."""
    return f"{slot // SLOTS_PER_CHUNK:02d}{piece}"


def text_key(slot: int) -> str:
    return f"{slot:05d}"


def cut(text: str) -> list[str]:
    """The pieces of a text; more than ten if it does not fit."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = _cut_before(text, start, min(start + PIECE_CHARACTERS, len(text)))
        pieces.append(text[start:end])
        start = end
    return pieces


def most_pieces(length: int) -> int:
    """How many pieces a text of this length can have. Cuts that give way to marks make it any number above one."""
    return 1 if length <= PIECE_CHARACTERS else MAX_PIECES


def _cut_before(text: str, start: int, end: int) -> int:
    cut_at = end
    while start < cut_at < len(text) and _belongs(text, cut_at):
        cut_at -= 1
    return end if cut_at == start else cut_at


def _belongs(text: str, at: int) -> bool:
    """Whether this character belongs to the one before."""
    letter = text[at]
    is_mark = unicodedata.category(letter) in ("Mn", "Mc", "Me") or letter == _JOINER
    return is_mark or text[at - 1] == _JOINER
