"""What pypdfium2 and Pillow alone take for the pages of a PDF: every page as a JPEG in memory, in one process."""

import io
import sys
import time
from importlib import import_module
from typing import Any


def main(file: str, width: int) -> None:
    pdfium: Any = import_module("pypdfium2")
    import_module("PIL.JpegImagePlugin")
    started = time.process_time()
    document = pdfium.PdfDocument(file)
    for page in document:
        image = page.render(scale=width / page.get_width()).to_pil()
        image.save(io.BytesIO(), "JPEG", quality=85)
    print(len(document), time.process_time() - started)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
