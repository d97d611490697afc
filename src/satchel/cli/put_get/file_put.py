"""Upload what one `satchel put` names, hand it over if it has a receiver, and follow the receipts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.files.batch import Sent, empty_folders, keeps_folders, send_all
from satchel.cli.engine.files.local_files import Gathered, gather, near
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.room_join import files_in
from satchel.cli.engine.resources.shelf_paths import TOP, Places, changed
from satchel.cli.engine.resources.transfer_create import hand_over, refuse_if_too_many
from satchel.cli.engine.resources.transfer_report import TransferReport, print_object
from satchel.cli.engine.terminal.output import CommandFailed, note, printable
from satchel.cli.put_get.put_mirror import Surplus, move_to_bin, refuse_unsafe, surplus
from satchel.cli.put_get.put_plan import PutPlan, plan, refuse_twins
from satchel.cli.put_get.put_target import PutTarget
from satchel.kernel.file_time import file_time


@dataclass(frozen=True, slots=True)
class FilePut:
    """One job, and how it speaks."""

    client: Client
    target: PutTarget
    as_json: bool
    quiet: bool
    mirror: bool = False
    dry_run: bool = False

    @property
    def report(self) -> TransferReport:
        return TransferReport(self.client, self.target.receiver_name, self.as_json, self.quiet)

    def put(self, files: Sequence[str], words: str) -> TransferView | None:
        """Returns the transfer, if there is a receiver. The same command resumes what is left."""
        job = [self.client.server, *self.target.job, *sorted(set(map(os.path.abspath, files)))]
        journal = Journal(self.client.credentials.path.parent / "uploads", job)
        finished = False
        try:
            handed = self._send(journal, files, words)
            finished = True
        finally:
            journal.close(finished=finished)
        return handed

    def _send(self, journal: Journal, files: Sequence[str], words: str) -> TransferView | None:
        folder = self.target.folder_for(journal.name)
        found = gather(files, folder)
        refuse_twins(found)
        if self.target.is_shelf_alone:
            self._update_shelf(journal, found)
            return None
        if self.target.receiver:
            refuse_if_too_many(len(found.sources))
        sent = send_all(
            self.client,
            journal,
            found,
            as_json=self.as_json,
            quiet=self.quiet,
            destination=self.target.destination,
        )
        if not sent.is_whole:
            raise CommandFailed("Some files were not sent. Run the same command again to retry them.")
        if self.target.receiver is None or not found.sources:
            return None
        ids = self._ids(sent, folder)
        key = journal.key_for(*self.target.receiver.values(), words, *ids)
        transfer = hand_over(self.client, self.target.receiver, ids, words, key, self.target.said)
        if keeps_folders(self.target.destination):  # a transfer has files, and the shelf that they come from has more
            for each in empty_folders(found):
                note(f"Not in the transfer: {near(each.path)} is an empty folder.")
        self.report.tell_handed(transfer)
        return transfer

    def _update_shelf(self, journal: Journal, found: Gathered) -> None:
        """Send what is not there, replace what changed, and leave alone what is the same."""
        tops = [top.place.rstrip("/") for top in found.tops]
        if self.mirror:
            refuse_unsafe(found, tops)
        places = Places(self.client)
        made = plan(places, [source for source in found.sources if not journal.is_done(source)])
        if self.dry_run:
            left = surplus(places, found, tops, ()) if self.mirror else []
            self._tell_plan(made, left)
            return
        waiting = replace(found, sources=[source for source in found.sources if source not in made.same])
        sent = send_all(
            self.client,
            journal,
            waiting,
            as_json=self.as_json,
            quiet=self.quiet,
            destination=self.target.destination,
            about=made.about,
        )
        updated = 0
        for source, entry in made.outdated:
            body = {"modified_at": file_time(source.modified_ns) or None, "executable": source.executable}
            if changed(self.client, entry, "PATCH", body):
                updated += 1
            else:
                note(f"{near(source.path)} was changed on the shelf meanwhile. Its time there stays as it is.")
        if not sent.is_whole:
            raise CommandFailed("Some files were not sent. Run the same command again to retry them.")
        left = surplus(Places(self.client), found, tops, {*sent.became.values()}) if self.mirror else []
        self._tell_counts(made, sent, updated, move_to_bin(self.client, left))

    def _tell_plan(self, made: PutPlan, left: Sequence[Surplus]) -> None:
        lines = [("send", source.place) for source in made.new]
        lines += [("replace", source.place) for source in made.replaced]
        lines += [("update", source.place) for source, _ in made.outdated]
        lines += [("move to the bin", each.place) for each in left]
        for verb, place in lines:
            if self.as_json:
                print_object(f"would {verb}", path=place)
            else:
                print(printable(f"would {verb} {place}"))
        unchanged = len(made.same) - len(made.outdated)
        if self.as_json:
            print_object("would leave alone", unchanged=unchanged)
        else:
            print(f"{unchanged:,} unchanged. Nothing was done.")

    def _tell_counts(self, made: PutPlan, sent: Sent, updated: int, binned: int) -> None:
        beside = [source for source, entry in made.replaced.items() if sent.became.get(source, entry.id) != entry.id]
        counts = {
            "new": len(made.new) + len(beside),
            "replaced": len(made.replaced) - len(beside),
            "updated": updated,
            "unchanged": len(made.same) - updated,
            "binned": binned,
        }
        for source in beside:
            note(f"{near(source.path)} was changed on the shelf meanwhile. Both are kept.")
        if self.as_json:
            print_object("summary", **counts)
        elif not self.quiet:
            touched = f", {updated:,} updated (time or executable bit)" if updated else ""
            last = f", {binned:,} moved to the bin" if binned else ""
            said = f"{counts['new']:,} new, {counts['replaced']:,} replaced{touched}, {counts['unchanged']:,} unchanged"
            print(f"{said}{last}.")

    def _ids(self, sent: Sent, folder: str) -> list[str]:
        """What the server calls that which is to be handed over."""
        if room_id := self.target.destination.get("room"):
            return sent.file_ids(self.client, {file.file_id for file in files_in(self.client, room_id)})
        # Whole folders, so that their structure goes along: nothing but this job is in there.
        places = Places(self.client)
        top = places.at(folder)
        return [entry.id for entry in places.entries(top.id if top else TOP)]
