def pairs_with_sum(values, total):
    """All pairs of values (each pair once, the smaller first, in order) that add up to total."""
    found = []
    for index, value in enumerate(values):
        for other in values[index + 1 :]:
            pair = sorted([value, other])
            if value + other == total and pair not in found:
                found.append(pair)
    return sorted(found)
