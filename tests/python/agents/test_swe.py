"""Which commands count as running tests."""

from __future__ import annotations

import pytest

from openhands_jupyter.agents.swe import runs_tests


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q tests/test_a.py",
        "cd src && python -m pytest",
        "python3 -m unittest discover",
        "make -C lib test",
        "make check",
        "npm run test",
        "npm test -- --watch=false",
        "jlpm test",
        "go test ./...",
        "cargo test",
        "./gradlew test",
        ".venv/bin/pytest",
        "tox -e py311",
        "!pytest -x",
        "CI=1 pytest",
        "uv run pytest",
        "Rscript -e 'testthat::test_dir(\"tests\")'",
    ],
)
def test_tests(command):
    assert runs_tests(command)


@pytest.mark.parametrize(
    "command",
    ["ls tests", "cat test_a.py", "make -C tests", "npm install jest", "pip install pytest-cov"],
)
def test_no_tests(command):
    assert not runs_tests(command)
