"""Make scores of files: as their names and folders suggest, or all of them one."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from satchel.cli.engine.api_types.score_types import ImportView, ScoreItemView, ScoreView
from satchel.cli.engine.files.batch import send_all
from satchel.cli.engine.files.local_files import Gathered, Source, gather, near
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed, note, printable
from satchel.cli.scores.score_bundles import Bundle, Sheet, bundles_of, in_order
from satchel.cli.scores.score_find import find_score
from satchel.cli.scores.score_text import shown_pages
from satchel.media.score_kinds import HEAD_BYTES, source_kind

# What takes long enough for its progress to be of interest.
_LARGE_BYTES = 4 * 1024**2
_LOOK_EVERY = 0.3


@dataclass(slots=True)
class NewScores:
    """One job, how it speaks, and what has become of it."""

    client: Client
    as_json: bool
    quiet: bool
    # Photos of pages are cropped and levelled.
    straighten: bool = False
    scores: list[ScoreView] = field(default_factory=list[ScoreView])
    failures: int = 0
    # Files of which no pages can be made. A retry would not help them.
    broken: int = 0

    def add(self, files: Sequence[str], *, to: str | None, title: str, composer: str, tags: Sequence[str]) -> None:
        """The same command resumes what is left."""
        sheets = self._sheet_music(gather(files, "", skip_hidden=True))
        sources = [each.source for each in sheets]
        job = [self.client.server, "score", to or "", title, *sorted(set(map(os.path.abspath, files)))]
        journal = Journal(self.client.credentials.path.parent / "uploads", job)
        try:
            if to:
                self._fill(journal, find_score(self.client, to), sources)
            elif title and sources:
                self._fill(journal, self._made(journal, title, composer, tags), sources)
            else:
                for bundle in bundles_of(sheets):
                    made = self._made(journal, bundle.title, composer or bundle.composer, tags, bundle.path)
                    self._fill(journal, made, bundle.sources)
        finally:
            journal.close(finished=not self.failures)

    def plan(self, files: Sequence[str], *, composer: str) -> list[Bundle]:
        """What the files would become. Nothing is sent."""
        bundles = bundles_of(self._sheet_music(gather(files, "", skip_hidden=True)))
        return [replace(each, composer=composer or each.composer) for each in bundles]

    def _sheet_music(self, found: Gathered) -> list[Sheet]:
        """Files whose first bytes say that they are; of the others it is told why not."""
        known: list[Sheet] = []
        for path, why in found.failed:
            self._fail(path, why)
        for source in found.sources:
            with Path(source.path).open("rb") as file:
                kind = source_kind(file.read(HEAD_BYTES), source.path)
            if kind is None:
                self._fail(source.path, "It is no sheet music.")
            else:
                known.append(Sheet(source, is_picture=kind in ("png", "jpeg")))
        if not known and not self.failures:
            raise CommandFailed("There is no file to add.")
        return in_order(known)

    def _made(self, journal: Journal, title: str, composer: str, tags: Sequence[str], place: str = "") -> ScoreView:
        body = {"title": title, "composer": composer, "tags": list(tags)}
        return self.client.make("/scores", ScoreView, body, key=journal.key_for("score", title, place))

    def _fill(self, journal: Journal, score: ScoreView, sources: Sequence[Source]) -> None:
        """One page after the other, so that they are in order."""
        for source in sources:
            sent = send_all(
                self.client,
                journal,
                Gathered(sources=[source]),
                as_json=False,
                quiet=self.quiet or self.as_json or source.size_bytes < _LARGE_BYTES,
                destination={"destination": "score", "score": score.score_id},
            )
            self.failures += not sent.is_whole
        filled = self._imported(score)
        if self.straighten:
            filled = self._straightened(score, filled)
        if (self.failures or self.broken) and not filled.pages and not score.pages:
            # Nobody wants a score without pages, and a retry makes it again.
            self.client.call("DELETE", f"/scores/{score.score_id}", type(None))
            return
        self.scores.append(filled)
        if not self.quiet and not self.as_json:
            print(printable(f"{filled.title}: {shown_pages(len(filled.pages))}, id {filled.score_id}"))

    def _imported(self, score: ScoreView) -> ScoreView:
        """When all pages are made of the files that came in now. What cannot become pages is taken out again."""
        known = {each.import_id for each in score.imports}
        told = ""
        while True:
            filled = self.client.call("GET", f"/scores/{score.score_id}", ScoreView)
            new = [each for each in filled.imports if each.import_id not in known]
            under_way = [each for each in new if each.state in ("waiting", "running")]
            if not under_way:
                break
            told = self._tell(under_way[0], told)
            time.sleep(_LOOK_EVERY)
        for each in new:
            if each.state == "failed":
                self.broken += 1
                note(f"Not added: {printable(each.name)}: {each.reason}")
                if not each.pages_done:
                    self.client.call("DELETE", f"/scores/{score.score_id}/items/{each.item_id}", type(None))
        return filled

    def _straightened(self, before: ScoreView, filled: ScoreView) -> ScoreView:
        """The pages that came in now show what their photos became, if there was something to straighten."""
        known = {page.page_id for page in before.pages}
        shown: dict[int, str] = {}
        for page in filled.pages:
            if page.page_id not in known and page.item is not None and page.item.kind in ("png", "jpeg"):
                path = f"/scores/{filled.score_id}/items/{page.item.item_id}/straighten"
                made = self.client.call("POST", path, ScoreItemView)
                if made.item_id != page.item.item_id:
                    shown[page.page_id] = made.item_id
        if not shown:
            return filled
        pages = [
            {
                "page_id": page.page_id,
                "item_id": shown.get(page.page_id, page.item.item_id),
                "name": page.name,
                "rotation": page.rotation,
            }
            for page in filled.pages
            if page.item is not None
        ]
        headers = {"if-match": f'"{filled.etag}"'}
        return self.client.call("PUT", f"/scores/{filled.score_id}/pages", ScoreView, {"pages": pages}, headers=headers)

    def _tell(self, running: ImportView, told: str) -> str:
        """How far a file has come, whenever that changes."""
        of = "" if running.pages_total is None else f" of {running.pages_total}"
        text = f"{running.name}: page {running.pages_done}{of}"
        if not self.quiet and not self.as_json and running.pages_done and text != told:
            note(printable(text))
        return text

    def _fail(self, path: str, why: str) -> None:
        self.failures += 1
        note(f"Not added: {printable(near(path))}: {why}")
