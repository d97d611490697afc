"""What is known of a file before its metadata is read."""

import msgspec


class MetadataJob(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a file from outside of it. The open file comes with it. Times are seconds since 1970."""

    name: str
    size_bytes: int
    now: float
    modified: float | None = None
    zone: str | None = None
    # Names and contents.
    sidecars: list[tuple[str, bytes]] = []
