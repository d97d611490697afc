"""Which licences of dependencies are accepted."""

import pytest

from tools.licences import is_accepted, python_licences, web_licences


@pytest.mark.parametrize(
    "written",
    ["MIT", "(MIT OR CC0-1.0)", "GPL-3.0-only OR MIT", "BSD License; Apache Software License", "MIT AND PSF-2.0"],
)
def test_permissive_licences_are_accepted(written: str) -> None:
    assert is_accepted(written)


@pytest.mark.parametrize(
    "written", ["", "GPL-3.0-only", "MIT AND AGPL-3.0-only", "BUSL-1.1", "Other/Proprietary License"]
)
def test_others_are_not(written: str) -> None:
    assert not is_accepted(written)


def test_both_sides_are_read() -> None:
    assert dict(python_licences())["msgspec"]
    assert dict(web_licences())["svelte"] == "MIT"
