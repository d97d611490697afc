"""Plan the download of a transfer, and report to its sender what was opened and verified."""

import hashlib
from pathlib import Path

from satchel.cli.engine.api_types.transfer_types import ChallengeView, TransferView
from satchel.cli.engine.files.download import Wanted, full_name, local_path
from satchel.cli.engine.http.client import Client

_PIECE_BYTES = 1 << 20


def plan(transfer: TransferView, folder: Path) -> list[Wanted]:
    """What to fetch. Makes the folders in which the files will stand."""
    wanted: list[Wanted] = []
    for file in transfer.files:
        target = folder / local_path(full_name(file))
        target.parent.mkdir(parents=True, exist_ok=True)
        content = f"/transfers/{transfer.transfer_id}/files/{file.place}/content"
        wanted.append(
            Wanted(
                content,
                file.size_bytes,
                file.sha256,
                target,
                {"place": file.place},
                called=full_name(file),
                modified_at=file.modified_at,
                executable=file.executable,
            )
        )
    return wanted


def open_offer(client: Client, transfer: TransferView) -> None:
    """Tell the sender that we have seen it."""
    if transfer.direction == "received":
        client.call("POST", f"/transfers/{transfer.transfer_id}/opened", object)


def report_verified(client: Client, transfer: TransferView, place: int, saved_as: Path) -> None:
    """Prove to the sender that the file is here as it was sent."""
    if transfer.direction == "received":
        prove(client, f"/transfers/{transfer.transfer_id}/files/{place}", saved_as)


def prove(client: Client, handed: str, saved_as: Path) -> None:
    """Answer a challenge with the bytes of the file, for which they are read once more."""
    challenge = client.call("POST", f"{handed}/challenge", ChallengeView).challenge
    digest = hashlib.sha256(bytes.fromhex(challenge))
    with saved_as.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    client.call("POST", f"{handed}/verified", object, {"proof": digest.hexdigest()})
