"""The tests pass with the module as it is, and fail with each of some mistakes in it."""

import tempfile
from pathlib import Path

from checking import fail, require, require_unchanged, run_python, text_of

MISTAKES = {
    "ranges that touch are not merged": ("start <= end + 1", "start <= end"),
    "a range within another cuts it": ("max(end, last)", "last"),
    "the order of the input counts": ("in sorted(ranges)", "in ranges"),
    "a range that ends before it begins is taken": ("if end < start:", "if False:"),
    "the ends are not counted": ("end - start + 1 for", "end - start for"),
    "overlaps are counted twice": ("in merged(ranges)", "in ranges"),
}


def run_tests(module: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ranges.py").write_text(module)
        Path(folder, "test_ranges.py").write_text(tests)
        code = f"import os, sys; os.chdir({folder!r}); sys.path.insert(0, {folder!r})"
        done = run_python(
            "-c", f"{code}; import unittest; unittest.main('test_ranges', argv=['tests'])"
        )
    require("Ran 0 tests" not in done.stderr, "there are no tests in test_ranges.py")
    return done.returncode


require_unchanged("ranges.py", "e21fec27959d0b9f")
module, tests = text_of("ranges.py"), text_of("test_ranges.py")
require(run_tests(module) == 0, "the tests fail with the module as it is")
for mistake, (right, wrong) in MISTAKES.items():
    require(module.count(right) == 1, f"the checker does not fit the module: {right}")
    if run_tests(module.replace(right, wrong)) == 0:
        fail(f"the tests do not notice that {mistake}")
