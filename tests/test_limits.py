"""The suite itself: a test that hangs fails, and Ctrl-C can be tested wherever the suite is started."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services import python_environment

REPOSITORY = Path(__file__).parent.parent

HANGING = """
import subprocess, time

def test_that_waits():
    time.sleep(60)

def test_that_waits_for_a_program_even_when_it_is_cut_off():
    with subprocess.Popen(["sleep", "60"]):
        time.sleep(60)

def test_that_ends():
    pass
"""


def run_pytest(*arguments: str, before: str = "") -> tuple[int, str]:
    command = f'{before} exec "$0" -m pytest -q -p no:cacheprovider -p no:xdist "$@"'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments],
        cwd=REPOSITORY,
        env=python_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_test_that_hangs_fails_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "test_hanging.py"
    file.write_text(HANGING)
    limits = ["-c", str(REPOSITORY / "pyproject.toml"), "-o", "timeout=0.5", "-o", "faulthandler_timeout=2"]
    code, said = run_pytest(*limits, str(file), "-k", "not program")
    assert code == 1
    assert "1 failed, 1 passed" in said
    code, said = run_pytest(*limits, str(file), "-k", "program")
    assert code != 0
    assert "even_when_it_is_cut_off" in said


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) == 600
    assert float(pytestconfig.getini("faulthandler_timeout")) > 600
    assert pytestconfig.getini("faulthandler_exit_on_timeout")


def test_a_program_that_a_test_starts_hears_ctrl_c() -> None:
    program = "import time; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == -signal.SIGINT
        finally:
            process.kill()


@pytest.mark.slow
def test_it_hears_it_also_where_the_shell_ignores_it() -> None:
    code, said = run_pytest(f"{__file__}::test_a_program_that_a_test_starts_hears_ctrl_c", before="trap '' INT;")
    assert code == 0, said
