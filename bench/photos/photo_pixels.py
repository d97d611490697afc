"""Pixels of photos of 12 megapixels as a camera would write them: 4:2:0, quality 88, some 2.7 MB.

`python -m bench.photos.photo_pixels FOLDER COUNT` makes them, in a process of its own.
"""

import sys
from pathlib import Path
from typing import Any

from satchel.media.decoders.vips_library import vips

_WIDTH, _HEIGHT = 4000, 3000
_QUALITY = 88


def main(folder: Path, count: int) -> None:
    for number in range(count):
        pixels = _picture(number).jpegsave_buffer(Q=_QUALITY, subsample_mode="on", keep="none")
        (folder / f"{number:04}.jpg").write_bytes(pixels)


def _picture(number: int) -> Any:
    """Soft forms with the grain of a sensor. Noise alone would be too large, and forms alone too small."""
    bands: list[Any] = []
    for band in range(3):
        seed = number * 3 + band
        forms = vips.Image.gaussnoise(_WIDTH // 40, _HEIGHT // 40, mean=128, sigma=60, seed=seed)
        details = vips.Image.gaussnoise(_WIDTH // 4, _HEIGHT // 4, mean=0, sigma=14, seed=seed + 1000)
        grain = vips.Image.gaussnoise(_WIDTH, _HEIGHT, mean=0, sigma=3.5, seed=seed + 2000)
        bands.append(forms.resize(40, kernel="cubic") + details.resize(4, kernel="cubic") + grain)
    joined = bands[0].bandjoin(bands[1:]).cast("uchar")
    return joined.copy(interpretation="srgb")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
