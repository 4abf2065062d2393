"""The network of one session: what its sandboxes may reach, and what came of their attempts."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

import msgspec

from ..config import Settings
from ..errors import Conflict, Invalid, OpenHandsError
from ..events import (
    Action,
    BrowseInteractiveAction,
    BrowseURLAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    Event,
    EventStream,
    IPythonRunCellAction,
    NetworkAccess,
    NetworkAccessAction,
    NetworkRefusedObservation,
    Observation,
    State,
)
from ..hosts import Rule
from ..runtime.egress import Network, NetworkPolicy, Verdict
from .info import AllowedPlace, NetworkInfo
from .way_out import listed_by, network_for, programs_of, refusal_of

REFUSALS_TOLD = 20
"""For one action; its programs may try as often as they like."""

_USES_NETWORK = CmdRunAction | IPythonRunCellAction | BrowseURLAction | BrowseInteractiveAction
"""What ends what was allowed for once."""

_log = logging.getLogger(__name__)


class SessionNetwork:
    """The network of one session.

    Parameters
    ----------
    stream
        The session's log, which refusals are told on.
    state
        The fold of the log, kept current by somebody else.
    settings, locked
        Those in force when the session is opened, and which the administrator has locked.
    on_change
        Called when `info` may have changed.

    Attributes
    ----------
    way_out
        What sandboxes are given; None as long as the settings give them no network. Once there is
        one it stays, and leads nowhere while the network is switched off.
    """

    def __init__(
        self,
        stream: EventStream,
        state: State,
        settings: Settings,
        locked: Collection[str],
        on_change: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._state = state
        self._settings = settings
        self._locked = locked
        self._on_change = on_change
        # What was allowed once, and whether the action that it is for has begun.
        self._once: dict[Rule, bool] = {}
        self._cause: int | None = None
        self._told: set[tuple[str, int]] = set()
        self.way_out: Network | None = None
        if settings.network != "off":
            self._open_way_out()
            self._settle()

    def info(self) -> NetworkInfo | None:
        """What may be reached now; None where the sandbox has no network to speak of."""
        isolation = self._state.isolation
        if self.way_out is None or (isolation is not None and isolation.network is None):
            return None
        allowed = [
            *(_place(rule, "session") for rule in self._for_session()),
            *(_place(rule, "once") for rule in self._once),
        ]
        places = self.way_out.proxy.policy.places()
        return NetworkInfo(places=places, allowed=allowed, fixed=not self._may_add())

    def change(self, host: str, port: int, access: NetworkAccess) -> int:
        """The person allows a place, or no longer; gives the event's id.

        Raises
        ------
        Invalid
            When this is no place that may be allowed.
        Conflict
            When there is no network, nothing changes, or the administrator fixed what is listed.
        """
        try:
            rule = Rule(host, port)
        except ValueError as error:
            raise Invalid("invalid_host", f"{error}.") from error
        if access == "revoked":
            self._require_allowed(rule)
        else:
            self._require_refused(rule, access)
        return self._stream.append(
            NetworkAccessAction(host=rule.host, port=rule.port, access=access)
        )

    def settings_changed(self, settings: Settings) -> None:
        """Apply other settings to what may be reached, and have the way out that they ask for."""
        self._settings = settings
        if settings.network != "off":
            if self.way_out is None:
                self._open_way_out()
            else:
                self.way_out = replace(self.way_out, settings=programs_of(settings))
        self._settle()

    def on_event(self, event: Event) -> None:
        """Take in an event of the log, after the state has."""
        match event:
            case NetworkAccessAction():
                self._take_access(event)
            case CmdOutputObservation(running=True):
                # The command goes on, and with it what it was allowed.
                pass
            case Observation(cause=int(cause)) if cause == self._cause:
                if not isinstance(event, NetworkRefusedObservation):
                    self._end_once()

    def _open_way_out(self) -> None:
        self.way_out = network_for(
            self._settings, self._on_verdict, on_lost=self._on_lost, on_action=self._on_action
        )

    def _take_access(self, event: NetworkAccessAction) -> None:
        for rule in _rules([(event.host, event.port)]):
            self._once.pop(rule, None)
            if event.access == "once":
                self._once[rule] = False
        self._settle()

    def _require_allowed(self, rule: Rule) -> None:
        if rule not in self._once and rule not in self._for_session():
            raise Conflict(
                "host_not_allowed",
                f"{rule} is not among what you allowed in this session.",
                "What is listed for all sessions is changed in the settings.",
            )

    def _require_refused(self, rule: Rule, access: NetworkAccess) -> None:
        if self.info() is None or self._settings.network == "off":
            raise Conflict(
                "no_network",
                "The sandbox of this session has no network.",
                "Switch the network on in the settings, then send a message.",
            )
        if not self._may_add():
            raise Conflict(
                "setting_locked",
                "The administrator has fixed which hosts may be reached.",
                "Ask the administrator of this Jupyter server.",
            )
        stays = self._policy(once=access == "once")
        if stays.allows(rule.host, rule.port):
            raise Conflict(
                "host_allowed", f"{rule} may be reached already.", "Let the agent try again."
            )

    def _may_add(self) -> bool:
        return self._settings.network != "off" and "network_rules" not in self._locked

    def _for_session(self) -> list[Rule]:
        return list(_rules(self._state.allowed_places))

    def _policy(self, *, once: bool = True) -> NetworkPolicy:
        listed = listed_by(self._settings)
        if not self._may_add():
            return listed
        added = [*self._for_session(), *(self._once if once else ())]
        return msgspec.structs.replace(listed, rules=[*listed.rules, *added])

    def _settle(self) -> None:
        if self.way_out is not None:
            self.way_out.proxy.policy = self._policy()
        self._on_change()

    def _on_action(self, action: Action) -> None:
        if isinstance(action, _USES_NETWORK):
            self._cause = action.id
            self._told.clear()
            self._once = dict.fromkeys(self._once, True)

    def _end_once(self) -> None:
        if any(self._once.values()):
            self._once = {rule: begun for rule, begun in self._once.items() if not begun}
            self._settle()

    def _on_verdict(self, verdict: Verdict) -> None:
        place = (verdict.host, verdict.port)
        refused = refusal_of(verdict, self._cause)
        if refused and place not in self._told and len(self._told) < REFUSALS_TOLD:
            self._told.add(place)
            self._tell(refused)

    def _on_lost(self) -> None:
        self._tell(
            ErrorObservation(
                code="network_lost",
                message="A program in the sandbox ended its way to the network.",
                hint="A new session has it again; what was allowed here has to be allowed there.",
            )
        )

    def _tell(self, event: Event) -> None:
        try:
            self._stream.append(event)
        except (OSError, OpenHandsError) as error:
            # The programs in the sandbox get their answer all the same.
            _log.warning("Session %s cannot note %s: %s", self._stream.session, event, error)


def _rules(places: Iterable[tuple[str, int]]) -> Iterator[Rule]:
    """The places on the log as rules; one in which a secret was masked is none."""
    for place in places:
        with contextlib.suppress(ValueError):
            yield Rule(*place)


def _place(rule: Rule, access: NetworkAccess) -> AllowedPlace:
    return AllowedPlace(host=rule.host, port=rule.port, access=access)
