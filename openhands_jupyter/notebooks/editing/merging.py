"""Bringing two edits of one source together: what both changed differently is shown, not chosen."""

from __future__ import annotations

from dataclasses import dataclass

from ..lines import Region, regions


@dataclass(frozen=True)
class Clash:
    """Lines that both sides changed, each in its own way.

    Attributes
    ----------
    base, ours, theirs
        The lines as they were, and as each side has them.
    """

    base: list[str]
    ours: list[str]
    theirs: list[str]


@dataclass(frozen=True)
class Merged:
    """What comes of two edits.

    Attributes
    ----------
    parts
        In order: lines that are settled, and clashes.
    """

    parts: list[list[str] | Clash]

    @property
    def clashes(self) -> list[Clash]:
        """What nobody but a person or the agent can settle."""
        return [part for part in self.parts if isinstance(part, Clash)]

    @property
    def source(self) -> str | None:
        """The source with both edits in it; None where they clash."""
        if self.clashes:
            return None
        return "\n".join(line for part in self.parts if isinstance(part, list) for line in part)

    def marked(self, ours: str, base: str, theirs: str) -> str:
        """The source with each clash between the marks that Git uses, each side by its name."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, list):
                lines += part
            else:
                lines += [f"<<<<<<< {ours}", *part.ours, f"||||||| {base}", *part.base]
                lines += ["=======", *part.theirs, f">>>>>>> {theirs}"]
        return "\n".join(lines)


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Merge two edits of `base` line by line.

    Changes of the same lines clash, and of lines next to each other, and insertions at the same
    place; a change that both made alike is made once.

    Parameters
    ----------
    base
        The source that both edits began with, such as the agent has read it.
    ours, theirs
        The source after each edit.
    """
    lines, our_lines, their_lines = base.split("\n"), ours.split("\n"), theirs.split("\n")
    parts: list[list[str] | Clash] = []
    at = 0
    for our_regions, their_regions in _groups(
        regions(lines, our_lines), regions(lines, their_lines)
    ):
        both = our_regions + their_regions
        start, end = min(r.start for r in both), max(r.end for r in both)
        _settle(parts, lines[at:start])
        at = end
        our_part = _lines_of(our_lines, our_regions, start, end)
        their_part = _lines_of(their_lines, their_regions, start, end)
        if not their_regions or our_part == their_part:
            _settle(parts, our_part)
        elif not our_regions:
            _settle(parts, their_part)
        else:
            parts.append(Clash(lines[start:end], our_part, their_part))
    _settle(parts, lines[at:])
    return Merged(parts)


def _groups(ours: list[Region], theirs: list[Region]) -> list[tuple[list[Region], list[Region]]]:
    """The regions of both sides in the order of the base, those that touch together."""
    tagged = sorted([(r, 0) for r in ours] + [(r, 1) for r in theirs])
    groups: list[tuple[list[Region], list[Region]]] = []
    end = -1
    for region, side in tagged:
        if region.start > end:
            groups.append(([], []))
        groups[-1][side].append(region)
        end = max(end, region.end)
    return groups


def _lines_of(side: list[str], found: list[Region], start: int, end: int) -> list[str]:
    """What a side has in place of lines `start` to `end` of the base."""
    if not found:
        return []
    first, last = found[0], found[-1]
    return side[first.new_start - (first.start - start) : last.new_end + (end - last.end)]


def _settle(parts: list[list[str] | Clash], lines: list[str]) -> None:
    if not lines:
        return
    if parts and isinstance(parts[-1], list):
        parts[-1].extend(lines)
    else:
        parts.append(list(lines))
