"""Ranges of whole numbers, both ends included."""


def merged(ranges):
    """The fewest ranges that cover the same numbers, in order.

    Ranges that overlap or touch, such as (1, 3) and (4, 6), become one. The order of the input does
    not count. A range that ends before it begins raises ValueError.
    """
    found = []
    for start, last in sorted(ranges):
        end = last
        if end < start:
            raise ValueError(f"{start} is behind {end}")
        if found:
            first, end = found[-1]
            if start <= end + 1:
                found[-1] = (first, max(end, last))
                continue
        found.append((start, last))
    return found


def covered(ranges):
    """How many numbers are in at least one of the ranges."""
    return sum(end - start + 1 for start, end in merged(ranges))
