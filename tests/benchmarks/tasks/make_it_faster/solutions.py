"""What a model would do, rightly and wrongly."""

from model_server.script import call

FAST = '''
def pairs_with_sum(values, total):
    """All pairs of values (each pair once, the smaller first, in order) that add up to total."""
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    found = []
    for value in sorted(counts):
        other = total - value
        if value < other and other in counts:
            found.append([value, other])
        elif value == other and counts[value] > 1:
            found.append([value, value])
    return found
'''

READ = call("read_file", path="pairs.py")
DONE = call("finish", message="Faster.")
RIGHT = [READ, call("write_file", path="pairs.py", content=FAST), DONE]
# Fast, but a value pairs with itself.
WRONG = [
    READ,
    call("write_file", path="pairs.py", content=FAST.replace("counts[value] > 1", "True")),
    DONE,
]
