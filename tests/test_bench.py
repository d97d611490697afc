"""The measurements can be started: a command that nobody has run for a week must not be found broken."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_one_figure_is_measured_by_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--json", "--rounds", "1", "sign-in"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (group,) = json.loads(done.stdout)["groups"]
    assert group["name"] == "sign-in"
    assert group["figures"]
