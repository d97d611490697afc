import html

from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.markup import escape


@given(st.text(st.sampled_from("&<>\"'a;#\u2028é\x00")))
def test_escapes_as_the_standard_library_does(text: str) -> None:
    assert escape(text) == html.escape(text)
