"""Photos: what their pictures cost beside bare libvips and sigal, and whether a large library costs more to look at."""

from bench.figures import Figure
from bench.photos import photo_library, photo_pictures
from bench.rounds import Effort


async def measure(effort: Effort) -> list[Figure]:
    return [*await photo_pictures.measure(effort), *await photo_library.measure(effort)]
