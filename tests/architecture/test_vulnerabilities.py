"""The audit of dependencies: what is found fails, and what nobody could be asked about is not called clean."""

import json
from subprocess import CompletedProcess
from typing import Any

from tools.vulnerabilities import judged_python, judged_web


def answered(report: dict[str, Any] | str, said: str = "", code: int = 0) -> "CompletedProcess[str]":
    text = report if isinstance(report, str) else json.dumps(report)
    return CompletedProcess([], code, text, said)


def test_what_is_known_of_a_package_is_found() -> None:
    bad: dict[str, Any] = {
        "name": "jinja2",
        "version": "3.1.0",
        "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}],
    }
    assert judged_python(answered({"dependencies": [bad]})) == ("found", "jinja2 3.1.0: PYSEC-1, fixed in 3.1.6")
    assert judged_web(answered({"vulnerabilities": {"vite": {"severity": "high"}}}, code=1)) == ("found", "vite: high")


def test_packages_that_were_skipped_are_not_called_clean() -> None:
    clean: dict[str, Any] = {"name": "httpx", "version": "1.0", "vulns": []}
    skipped = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}
    assert judged_python(answered({"dependencies": [clean]})) == ("clean", "")
    kind, said = judged_python(answered({"dependencies": [clean, skipped]}))
    assert (kind, said.startswith("1 of 2")) == ("unasked", True)


def test_a_service_that_does_not_answer_is_told_from_a_program_that_fails() -> None:
    refused = 'npm warn audit 405 Method Not Allowed - POST https://registry.npmjs.org\n{"statusCode": 405}'
    assert judged_web(answered('{"statusCode": 405}', refused, 1))[0] == "unasked"
    assert judged_web(answered({"vulnerabilities": {}})) == ("clean", "")
    assert judged_python(answered("", "error: unexpected argument", 2)) == ("failed", "error: unexpected argument")
