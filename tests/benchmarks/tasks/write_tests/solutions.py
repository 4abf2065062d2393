"""What a model would do, rightly and wrongly."""

from model_server.script import call

TESTS = """
import unittest

from ranges import covered, merged


class Merged(unittest.TestCase):
    def test_overlapping(self):
        self.assertEqual(merged([(5, 9), (1, 6)]), [(1, 9)])

    def test_touching(self):
        self.assertEqual(merged([(1, 3), (4, 6)]), [(1, 6)])

    def test_within(self):
        self.assertEqual(merged([(1, 10), (2, 3), (12, 12)]), [(1, 10), (12, 12)])

    def test_apart(self):
        self.assertEqual(merged([(1, 2), (4, 5)]), [(1, 2), (4, 5)])

    def test_backwards(self):
        with self.assertRaises(ValueError):
            merged([(3, 1)])


class Covered(unittest.TestCase):
    def test_both_ends_count(self):
        self.assertEqual(covered([(1, 3)]), 3)

    def test_once(self):
        self.assertEqual(covered([(1, 3), (2, 5)]), 5)
"""

READ = call("read_file", path="ranges.py")
DONE = call("finish", message="Tested.")
RIGHT = [
    READ,
    call("write_file", path="test_ranges.py", content=TESTS),
    call("execute_bash", command="python -m unittest -q"),
    DONE,
]
# Without the test of ranges that touch.
WEAK = TESTS.replace("[(1, 3), (4, 6)]", "[(1, 4), (4, 6)]")
WRONG = [READ, call("write_file", path="test_ranges.py", content=WEAK), DONE]
