"""A link as a QR code in a terminal, for phones to read."""

from collections.abc import Iterator
from io import StringIO


def qr_code(link: str) -> Iterator[str]:
    import segno

    drawn = StringIO()
    segno.make(link, error="m", micro=False).terminal(drawn, compact=True, border=2)
    for line in drawn.getvalue().splitlines():
        # White on black whatever the colours of the terminal are: turned round, some phones cannot read it.
        yield f"  \x1b[97;40m{line}\x1b[0m"
