"""What others get instead of an original."""

import msgspec

from satchel.kernel.patches import Patch


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """An original with these patches has this hash. No hash means that nobody knows what is in it."""

    sha256: str
    patches: list[Patch] = []

    @property
    def is_clear(self) -> bool:
        return bool(self.sha256)
