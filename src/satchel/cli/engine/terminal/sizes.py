"""Sizes and moments as people read them."""

from datetime import datetime


def shown_bytes(size_bytes: int) -> str:
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size, unit = float(size_bytes), "B"
    for unit in ("kB", "MB", "GB", "TB", "PB"):  # noqa: B007  # the last one stays
        size /= 1000
        if size < 999.5:
            break
    return f"{size:.1f} {unit}" if size < 9.95 else f"{size:.0f} {unit}"


def shown_moment(iso: str) -> str:
    """In the time of this machine."""
    return datetime.fromisoformat(iso).astimezone().strftime("%Y-%m-%d %H:%M")


def shown_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
