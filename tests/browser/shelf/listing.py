"""What people see of a shelf and do with it, wherever on it they are."""

from typing import Any

from playwright.sync_api import Locator, Page, expect


def heading_is(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def rows(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("row")


def row(page: Page, name: str) -> Locator:
    return rows(page).filter(has_text=name)


def deed(page: Page, name: str) -> Locator:
    return page.get_by_role("toolbar").get_by_role("button", name=name)


def open_entry(page: Page, name: str) -> None:
    rows(page).get_by_role("link", name=name).click()


def are_chosen(page: Page, *names: str) -> None:
    expect(page.get_by_role("row", selected=True)).to_have_count(len(names))
    for name in names:
        expect(row(page, name)).to_have_attribute("aria-selected", "true")


def is_true(element: Locator, condition: str) -> None:
    """Wait until a condition holds in the browser."""
    handle: Any = element.element_handle()
    element.page.wait_for_function(condition, arg=handle)
