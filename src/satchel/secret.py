"""The secret that signs tokens and links: given by the settings, or made once and kept in the data folder."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from satchel.config import BadSetting, Settings
from satchel.kernel.errors import Unavailable
from satchel.kernel.signature import MIN_SECRET_BYTES, Signer
from satchel.stores.connect import prepare_folder


def open_signer(settings: Settings) -> Signer:
    if settings.secret:
        return Signer(settings.secret.encode())
    if not settings.has_one_writer:
        raise BadSetting(
            "Several servers can share these tables, so they have to share a secret too: set SATCHEL_SECRET to the"
            " same 32 characters or more on each, such as `openssl rand -hex 32` prints."
        )
    prepare_folder(settings.data)
    return Signer(_kept_secret(settings.data / "secret"))


def _kept_secret(file: Path) -> bytes:
    try:
        if not file.exists():
            _make_secret(file)
        secret = file.read_bytes().strip()
    except OSError as error:
        raise Unavailable(
            f"The secret in {file} cannot be read or made ({error.strerror}). Change the rights of the data folder."
        ) from error
    if len(secret) < MIN_SECRET_BYTES:
        raise Unavailable(f"The secret in {file} is damaged. Restore it, or delete it: everybody then signs in anew.")
    return secret


def _make_secret(file: Path) -> None:
    """Whole and on disk before it has its name; of two servers that begin at once, the first one's secret counts."""
    draft = file.with_name(f"secret.{secrets.token_hex(8)}")
    with open(draft, "x", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as opened:
        opened.write(secrets.token_hex(32))
        opened.flush()
        os.fsync(opened.fileno())
    with suppress(FileExistsError):
        file.hardlink_to(draft)
    draft.unlink()
