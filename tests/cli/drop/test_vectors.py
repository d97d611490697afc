"""The vectors by which the browser's half is held to the protocol are what this half computes."""

from tools.drop_vectors import VECTORS, written


def test_the_vectors_are_up_to_date() -> None:
    assert VECTORS.read_text(encoding="utf-8") == written(), "run `python -m tools.drop_vectors`"
