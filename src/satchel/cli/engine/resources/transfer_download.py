"""Plan the download of a transfer, and report to its sender what was opened and verified."""

from pathlib import Path

from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.files.download import Wanted, full_name, local_path
from satchel.cli.engine.http.client import Client


def plan(transfer: TransferView, folder: Path) -> list[Wanted]:
    """What to fetch. Makes the folders in which the files will stand."""
    wanted: list[Wanted] = []
    for file in transfer.files:
        target = folder / local_path(full_name(file))
        target.parent.mkdir(parents=True, exist_ok=True)
        content = f"/transfers/{transfer.transfer_id}/files/{file.place}/content"
        wanted.append(Wanted(content, file.size_bytes, file.sha256, target, {"place": file.place}))
    return wanted


def open_offer(client: Client, transfer: TransferView) -> None:
    """Tell the sender that we have seen it."""
    if transfer.direction == "received":
        client.call("POST", f"/transfers/{transfer.transfer_id}/opened", object)


def report_verified(client: Client, transfer: TransferView, place: int) -> None:
    """Tell the sender that the file arrived as it was sent."""
    if transfer.direction == "received":
        sha256 = next(file.sha256 for file in transfer.files if file.place == place)
        path = f"/transfers/{transfer.transfer_id}/files/{place}/verified"
        client.call("POST", path, object, {"sha256": sha256})
