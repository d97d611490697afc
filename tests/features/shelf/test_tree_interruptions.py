"""Folders, moves, the bin and what is due, cut off or crossed by others at every single step."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from satchel.features.shelf.model import ROOT, EntryId, FileId, FolderId, FolderInsideItself, NameTaken, UserId
from satchel.features.shelf.records import FOLDER, FolderRow
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import FileChange, change_file
from satchel.features.shelf.service.folders import Ways, change_folder, have_folders, make_folder
from satchel.features.shelf.service.purge import delete_for_good, empty_bin, sweep_due
from satchel.features.shelf.service.shelf_bin import delete_file, delete_folder, restore
from satchel.features.shelf.service.shelf_file_add import keep_upload
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.kernel.errors import NotFound
from satchel.kernel.names import FileName
from tests.application import Caller, Satchel
from tests.features.shelf.given import Killed, Meddling, check_shelf, kill, shelf_of, staged, uploaded

MOST_STEPS = 60
LONG = timedelta(days=31)
Act = Callable[[Shelf, "Tree"], Awaitable[object]]
each_side = pytest.mark.parametrize("afterwards", [False, True], ids=["before", "after"])


@dataclass
class Tree:
    """A person with `outer/inner/deep.txt`, `outer/near.txt`, `other/` and `top.txt`, all of the same bytes."""

    caller: Caller
    outer: FolderId
    inner: FolderId
    other: FolderId
    deep: FileId
    top: FileId

    @property
    def person(self) -> UserId:
        return UserId(self.caller.user_id)


async def planted(satchel: Satchel, number: int) -> Tree:
    caller, shelf = satchel.caller(), shelf_of(satchel)
    caller.user_id = f"person-{number}"
    person = UserId(caller.user_id)
    outer, other = [(await make_folder(shelf, person, ROOT, name)).folder_id for name in ("outer", "other")]
    inner = (await make_folder(shelf, person, outer, "inner")).folder_id
    deep = (await uploaded(satchel, caller, "deep.txt", b"content", folder_id=inner)).file_id
    await uploaded(satchel, caller, "near.txt", b"content", folder_id=outer)
    top = (await uploaded(satchel, caller, "top.txt", b"content")).file_id
    return Tree(caller, outer, inner, other, deep, top)


async def bin_outer(shelf: Shelf, tree: Tree) -> None:
    await delete_folder(shelf, tree.person, tree.outer)


async def bring_outer_back(shelf: Shelf, tree: Tree) -> None:
    await restore(shelf, tree.person, EntryId(tree.outer))


async def purge_outer(shelf: Shelf, tree: Tree) -> None:
    await delete_for_good(shelf, tree.person, EntryId(tree.outer))


async def move_outer(shelf: Shelf, tree: Tree) -> None:
    await change_folder(shelf, tree.person, tree.outer, written="renamed", parent_id=tree.other)


async def move_other_inside(shelf: Shelf, tree: Tree) -> None:
    await change_folder(shelf, tree.person, tree.other, written=None, parent_id=tree.inner)


async def move_deep_up(shelf: Shelf, tree: Tree) -> None:
    await change_file(shelf, tree.person, tree.deep, FileChange(folder_id=ROOT, expires_at="2100-01-01T00:00:00.000Z"))


async def move_inner_up(shelf: Shelf, tree: Tree) -> None:
    await change_folder(shelf, tree.person, tree.inner, written=None, parent_id=ROOT)


async def bin_deep(shelf: Shelf, tree: Tree) -> None:
    await delete_file(shelf, tree.person, tree.deep)


async def bring_deep_back(shelf: Shelf, tree: Tree) -> None:
    await restore(shelf, tree.person, EntryId(tree.deep))


async def purge_deep(shelf: Shelf, tree: Tree) -> None:
    await delete_for_good(shelf, tree.person, EntryId(tree.deep))


async def make_paths(shelf: Shelf, tree: Tree) -> None:
    await have_folders(shelf, tree.person, tree.outer, [FileName("inner"), FileName("new"), FileName("newer")])


async def empty(shelf: Shelf, tree: Tree) -> None:
    await empty_bin(shelf, tree.person)


async def sweep(shelf: Shelf, tree: Tree) -> None:
    del tree
    await sweep_due(shelf)


async def nothing(shelf: Shelf, tree: Tree) -> None:
    del shelf, tree


async def above(satchel: Satchel, folder: FolderRow) -> list[FolderRow]:
    """The folder and those around it, as far as they are there."""
    found = [folder]
    while found[-1].parent_id != ROOT and len(found) < MOST_STEPS:
        parent_id = found[-1].parent_id
        parent = await FOLDER.get(satchel.stores.tables, user_id=folder.user_id, folder_id=parent_id)
        assert parent is not None
        found.append(parent)
    assert len(found) < MOST_STEPS, "a circle"
    return found


REFUSALS = (NotFound, NameTaken, FolderInsideItself)


@each_side
@pytest.mark.parametrize(
    ("before", "act"),
    [
        (nothing, bin_outer),
        (bin_outer, bring_outer_back),
        (bin_outer, purge_outer),
        (bin_outer, empty),
        (nothing, move_outer),
        (nothing, move_deep_up),
        (nothing, bin_deep),
        (nothing, make_paths),
    ],
)
async def test_what_is_cut_off_at_any_step_changed_nothing_or_all_and_can_be_done_again(
    satchel: Satchel, afterwards: bool, before: Act, act: Act
) -> None:
    for step in range(1, MOST_STEPS):
        tree = await planted(satchel, step)
        await before(shelf_of(satchel), tree)
        cut = Meddling(step, kill, afterwards=afterwards)
        try:
            await act(cut.shelf(shelf_of(satchel)), tree)
        except Killed:
            pass
        else:
            assert cut.calls < step
            return
        await check_shelf(satchel, tree.caller, leftovers=True)
        with suppress(*REFUSALS):
            await act(shelf_of(satchel), tree)
        # What a purge has left is due, and the sweep takes it.
        await sweep_due(shelf_of(satchel))
        await sweep_shelves(shelf_of(satchel))
        await check_shelf(satchel, tree.caller)
    pytest.fail("there are more steps than were tried")


@each_side
async def test_a_sweep_cut_off_at_any_step_is_finished_by_the_next(satchel: Satchel, afterwards: bool) -> None:
    for step in range(1, MOST_STEPS):
        tree = await planted(satchel, step)
        await bin_deep(shelf_of(satchel), tree)
        await bin_outer(shelf_of(satchel), tree)
        satchel.clock.advance(LONG)
        cut = Meddling(step, kill, afterwards=afterwards)
        with suppress(Killed):
            await sweep_due(cut.shelf(shelf_of(satchel)))
        await check_shelf(satchel, tree.caller, leftovers=True)
        await sweep_due(shelf_of(satchel))
        await sweep_shelves(shelf_of(satchel))
        (left,) = await check_shelf(satchel, tree.caller)
        assert left.name == "top.txt"
        assert (await FOLDER.list(satchel.stores.tables, user_id=tree.person)).records[0].name == "other"
        if cut.calls < step:
            return
    pytest.fail("there are more steps than were tried")


CROSSINGS = [
    (bin_deep, bring_deep_back, purge_deep),
    (bin_deep, purge_deep, bring_deep_back),
    (nothing, bin_outer, move_deep_up),
    (nothing, bin_outer, move_inner_up),
    (nothing, bin_outer, bin_deep),
    (nothing, bin_outer, move_other_inside),
    (nothing, move_outer, move_other_inside),
    (nothing, move_other_inside, move_outer),
    (nothing, move_outer, bin_outer),
    (nothing, move_deep_up, bin_outer),
    (nothing, make_paths, bin_outer),
    (bin_outer, bring_outer_back, purge_outer),
    (bin_outer, purge_outer, bring_outer_back),
    (bin_outer, empty, bring_outer_back),
    (bin_outer, empty, sweep),
    (bin_outer, purge_outer, empty),
]


@each_side
@pytest.mark.parametrize(("before", "act", "meddle"), CROSSINGS)
async def test_two_changes_that_cross_at_any_step_leave_everything_consistent(
    satchel: Satchel, afterwards: bool, before: Act, act: Act, meddle: Act
) -> None:
    for step in range(1, MOST_STEPS):
        tree = await planted(satchel, step)
        await before(shelf_of(satchel), tree)

        async def cross(tree: Tree = tree) -> None:
            with suppress(*REFUSALS):
                await meddle(shelf_of(satchel), tree)

        crossing = Meddling(step, cross, afterwards=afterwards)
        with suppress(*REFUSALS):
            await act(crossing.shelf(shelf_of(satchel)), tree)
        await sweep_due(shelf_of(satchel))
        await sweep_shelves(shelf_of(satchel))
        await check_shelf(satchel, tree.caller)
        for folder in (await FOLDER.list(satchel.stores.tables, user_id=tree.person)).records:
            is_binned = any(each.deleted_at for each in await above(satchel, folder))
            assert is_binned or await Ways(shelf_of(satchel), tree.person).to(folder.folder_id)
        if crossing.calls < step:
            return
    pytest.fail("there are more steps than were tried")


@each_side
@pytest.mark.parametrize("meddle", [bin_outer, move_outer, move_inner_up])
async def test_an_upload_into_a_folder_that_changes_meanwhile_is_not_lost(
    satchel: Satchel, afterwards: bool, meddle: Act
) -> None:
    async def meddle_for_good(shelf: Shelf, tree: Tree) -> None:
        await meddle(shelf, tree)
        await empty_bin(shelf, tree.person)

    for step in range(1, MOST_STEPS):
        tree = await planted(satchel, step)
        upload = await staged(satchel, tree.caller, "new.txt", b"new", folder_id=tree.inner)
        upload = replace(upload, folders=[FileName("made"), FileName("on the way")])

        async def cross(tree: Tree = tree) -> None:
            await meddle_for_good(shelf_of(satchel), tree)

        crossing = Meddling(step, cross, afterwards=afterwards)
        kept = await keep_upload(crossing.shelf(shelf_of(satchel)), upload)
        is_purged_since = meddle is bin_outer and crossing.calls >= step
        files = {file.file_id for file in await check_shelf(satchel, tree.caller)}
        assert kept.file_id in files or is_purged_since
        if crossing.calls < step:
            return
    pytest.fail("there are more steps than were tried")


@pytest.mark.parametrize("paused_at", [5, 6, 7])
async def test_nothing_enters_a_folder_that_is_being_emptied(satchel: Satchel, paused_at: int) -> None:
    """An upload waits where it has found its folder, and goes on at each step of the sweep that empties it."""
    for step in range(1, MOST_STEPS):
        tree, is_paused, goes_on = await planted(satchel, step), asyncio.Event(), asyncio.Event()
        upload = await staged(satchel, tree.caller, "new.txt", b"new", folder_id=tree.inner)

        async def wait(is_paused: asyncio.Event = is_paused, goes_on: asyncio.Event = goes_on) -> None:
            is_paused.set()
            await goes_on.wait()

        task = asyncio.create_task(keep_upload(Meddling(paused_at, wait).shelf(shelf_of(satchel)), upload))
        await is_paused.wait()

        async def go_on(task: Awaitable[object] = task, goes_on: asyncio.Event = goes_on) -> None:
            goes_on.set()
            await task

        await bin_outer(shelf_of(satchel), tree)
        await purge_outer(shelf_of(satchel), tree)
        sweeping = Meddling(step, go_on)
        await sweep_due(sweeping.shelf(shelf_of(satchel)))
        await go_on()
        await sweep_due(shelf_of(satchel))
        await sweep_shelves(shelf_of(satchel))
        assert upload.file_id in {file.file_id for file in await check_shelf(satchel, tree.caller)}
        if sweeping.calls < step:
            return
    pytest.fail("there are more steps than were tried")


async def test_a_large_folder_goes_in_bounded_steps(satchel: Satchel) -> None:
    tree = await planted(satchel, 1)
    for number in range(30):
        await uploaded(satchel, tree.caller, f"{number}.txt", b"content", folder_id=tree.inner)
    await bin_outer(shelf_of(satchel), tree)
    satchel.clock.advance(LONG)
    gone = [await sweep_due(shelf_of(satchel), at_once=10) for _ in range(6)]
    assert (max(gone), sum(gone), gone[-1]) == (10, 32 + 2 * 2, 0)
    assert len(await check_shelf(satchel, tree.caller)) == 1
