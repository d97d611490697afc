"""What pyvips alone takes for both sizes of some photos, in one process that does nothing else.

The JPEG is decoded once at a half of its size, the preview is made of that, and the small one of the preview.
"""

import sys
import time
from pathlib import Path

from satchel.media.decoders.vips_library import vips


def main(folder: Path) -> None:
    files = sorted(folder.iterdir())
    started = time.process_time()
    for file in files:
        image = vips.Image.jpegload(str(file), shrink=2, access="sequential")
        preview = image.thumbnail_image(1440, height=1440, size="down", no_rotate=True).copy_memory().autorot()
        preview.jpegsave_buffer(Q=80, keep="none")
        preview.thumbnail_image(320, height=320, size="down").webpsave_buffer(Q=80, keep="none")
    print(time.process_time() - started)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
