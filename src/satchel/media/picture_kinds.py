"""Which files may have a picture, by their name and declared type. Whether one has is decided by its bytes."""

_TYPES = frozenset(
    (
        *("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/tiff", "image/heic", "image/heif"),
        *("application/pdf", "video/mp4", "video/quicktime", "video/webm", "video/x-matroska", "video/ogg"),
        *("video/x-msvideo", "video/mp2t", "video/mpeg", "video/x-m4v", "video/3gpp"),
    )
)
RAW_ENDINGS = frozenset(
    (
        *("3fr", "arw", "cr2", "cr3", "crw", "dng", "erf", "iiq", "kdc", "mef", "mos", "mrw", "nef", "nrw"),
        *("orf", "pef", "raf", "rw2", "rwl", "sr2", "srf", "srw", "x3f"),
    )
)
_ENDINGS = RAW_ENDINGS | frozenset(
    (
        *("jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "avif", "tif", "tiff", "heic", "heif", "hif", "pdf"),
        *("mp4", "m4v", "mov", "webm", "mkv", "ogv", "avi", "mts", "m2ts", "mpg", "mpeg", "3gp"),
    )
)


def may_have_picture(name: str, content_type: str) -> bool:
    declared = content_type.partition(";")[0].strip().lower()
    return declared in _TYPES or name.rpartition(".")[2].lower() in _ENDINGS
