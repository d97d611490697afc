"""Placeholders: the same bytes as other implementations of ThumbHash write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.media.decoders.thumbhash import thumbhash


def gradient(width: int, height: int) -> bytes:
    return b"".join(
        bytes((255 * x // (width - 1), 255 * y // (height - 1), 60, 255)) for y in range(height) for x in range(width)
    )


def test_a_placeholder_is_what_the_web_app_reads() -> None:
    """web/src/lib/files/thumbhash.test.ts has the same."""
    assert thumbhash(32, 24, gradient(32, 24)).hex() == "1afa093d9a8087877078888888788888807008f878"
    half_seen = b"".join(bytes((200, 30, 30, 255 if y < 12 else 0)) * 16 for y in range(24))
    assert thumbhash(16, 24, half_seen).hex() == "954a830300587a8c18d808388f72f63878888f88885878"


@given(width=st.integers(1, 24), height=st.integers(1, 24), data=st.data())
def test_every_image_has_a_short_one(width: int, height: int, data: st.DataObject) -> None:
    pixels = data.draw(st.binary(min_size=width * height * 4, max_size=width * height * 4))
    assert 10 <= len(thumbhash(width, height, pixels)) <= 30


@pytest.mark.parametrize(("width", "height", "pixels"), [(101, 1, bytes(404)), (0, 0, b""), (2, 2, bytes(15))])
def test_what_is_no_small_image_is_refused(width: int, height: int, pixels: bytes) -> None:
    with pytest.raises(ValueError, match="at most 100 x 100"):
        thumbhash(width, height, pixels)
