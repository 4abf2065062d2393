"""The same results, with comparisons that grow about as the list does."""

import json

from checking import fail, require, run_python

CODE = """
import json
from pairs import pairs_with_sum


class Number(int):
    used = 0

    def __hash__(self):
        Number.used += 1
        return int.__hash__(self)

    def __eq__(self, other):
        Number.used += 1
        return int.__eq__(self, other)

    def __lt__(self, other):
        Number.used += 1
        return int.__lt__(self, other)

    def __add__(self, other):
        Number.used += 1
        return Number(int.__add__(self, other))

    def __sub__(self, other):
        Number.used += 1
        return Number(int.__sub__(self, other))

    def __rsub__(self, other):
        Number.used += 1
        return Number(int.__rsub__(self, other))


def used(length):
    Number.used = 0
    pairs_with_sum([Number(value) for value in range(length)], 3)
    return Number.used


cases = [([1, 2, 3, 4, 5], 6), ([3, 3, 3], 6), ([], 0), ([5, -1, 2, -1, 5], 4), ([1], 2)]
print(json.dumps([[pairs_with_sum(*case) for case in cases], used(200), used(2000)]))
"""

done = run_python("-c", CODE)
if done.returncode:
    fail(f"it fails: {(done.stderr.splitlines() or ['?'])[-1]}")
results, few, many = json.loads(done.stdout.splitlines()[-1])
wanted = [[[1, 5], [2, 4]], [[3, 3]], [], [[-1, 5]], []]
require(results == wanted, f"the results differ: {results}")
require(many < 20 * few, f"a list ten times as long takes {many / few:.0f} times as much")
