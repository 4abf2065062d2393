"""What agents were told of skills and instructions: a fold over the events."""

from __future__ import annotations

from dataclasses import dataclass, field

from .event import Event
from .memory import CondensationAction
from .skills import SkillObservation, SkillsObservation


@dataclass
class SkillsTold:
    """What agents were told of skills and instructions.

    Attributes
    ----------
    at_start
        The texts at the beginning of the prompt.
    listed_at_start, listed
        Which skills were told there, and last.
    """

    at_start: list[SkillObservation] = field(default_factory=list)
    listed_at_start: SkillsObservation | None = None
    listed: SkillsObservation | None = None
    _given: dict[tuple[int, ...], dict[tuple[str, str], SkillObservation]] = field(
        default_factory=dict
    )

    def apply(self, event: Event) -> None:
        """Fold in the next event of the log."""
        match event:
            case SkillsObservation():
                self.listed = event
                if event.at_start:
                    self.listed_at_start = event
            case SkillObservation(at_start=True):
                self.at_start.append(event)
            case SkillObservation() if event.reason != "asked":
                given = self._given.setdefault(tuple(event.agent_path), {})
                given[event.origin, event.path] = event
            case CondensationAction(forgotten_start=int(start), forgotten_end=int(end)):
                path = tuple(event.agent_path)
                given = self._given.get(path, {})
                self._given[path] = {
                    key: told for key, told in given.items() if not start <= told.id <= end
                }

    def digest(self, agent_path: list[int], origin: str, path: str) -> str:
        """Of the text that the agent at work has been given and still sees; empty if none is."""
        given = self._given.get(tuple(agent_path), {}).get((origin, path))
        if given is not None:
            return given.digest
        start = (told for told in self.at_start if (told.origin, told.path) == (origin, path))
        return next((told.digest for told in start), "")
