"""How much of a disk is kept free, so that people can still delete, and sign in to do so, when the rest is taken."""

RESERVED_BYTES = 64 * 1024 * 1024


def reserve_of(total_bytes: int) -> int:
    """Of a small disk it is a twentieth."""
    return min(RESERVED_BYTES, total_bytes // 20)
