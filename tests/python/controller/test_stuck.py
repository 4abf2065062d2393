"""When an agent gets nowhere, and when it only looks as if."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import count, cycle, islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openhands_jupyter.controller.fingerprints import LONGEST
from openhands_jupyter.controller.stuck import StuckDetector
from openhands_jupyter.events import (
    Action,
    AgentMessageAction,
    AgentThinkAction,
    AwaitRunAction,
    Blob,
    ChangeAgentStateAction,
    ChangeSettingsAction,
    CmdOutputObservation,
    CmdRunAction,
    CondensationAction,
    ConfirmationAction,
    ErrorObservation,
    Event,
    FileEditAction,
    FileEditObservation,
    FileReadAction,
    FileReadObservation,
    InvalidToolCallAction,
    IPythonOutputObservation,
    IPythonRunCellAction,
    KernelCodeAction,
    KernelCodeObservation,
    ModelCall,
    NotebookRunObservation,
    Observation,
    Output,
    StuckObservation,
    UserMessageAction,
)

Step = tuple[Action, Observation | None]


class Watched:
    """A detector, and a log that it watches."""

    def __init__(self) -> None:
        self.detector = StuckDetector()
        self.ids = count()

    def add(self, event: Event, **fields: object) -> int:
        id = next(self.ids)
        self.detector.apply(msgspec.structs.replace(event, id=id, **fields))
        return id

    def step(self, *done: Step, response: str = "") -> StuckObservation | None:
        """What one response of the model does, and what is found then."""
        call = ModelCall(response_id=response or f"r{next(self.ids)}")
        for action, result in done:
            cause = self.add(action, source="agent", llm=call)
            if result is not None:
                self.add(result, source="environment", cause=cause)
        return self.detector.check()


def found(*steps: Step) -> list[tuple[int, StuckObservation]]:
    """What is found, with the number of the step that it is found after."""
    watched = Watched()
    told = ((number, watched.step(step)) for number, step in enumerate(steps, 1))
    return [(number, loop) for number, loop in told if loop is not None]


def shell(command: str, content: str = "", exit_code: int = 0) -> Step:
    return CmdRunAction(command=command), CmdOutputObservation(content=content, exit_code=exit_code)


def cell(code: str, *outputs: Output, ok: bool = True) -> Step:
    return IPythonRunCellAction(code=code), IPythonOutputObservation(outputs=list(outputs), ok=ok)


def printed(text: str) -> Output:
    return Output(kind="stream", name="stdout", text=text)


def endless(make: Callable[[int], Step], steps: int = 40) -> list[Step]:
    return [make(number) for number in range(steps)]


def test_the_same_action_and_result_is_told_then_stopped():
    (told_at, told), (stopped_at, stopped) = found(*[shell("make", "ok")] * 8)
    assert (told_at, told.pattern, told.times, told.stopped) == (4, "same_action", 4, False)
    assert (stopped_at, stopped.pattern, stopped.stopped) == (8, "same_action", True)
    assert stopped.first == told.first == 1, "the beginning of the whole loop"


VOLATILE: dict[str, Callable[[int], str]] = {
    "time": lambda n: f"Mon Nov 30 12:0{n}:1{n} UTC 2026",
    "iso": lambda n: f"2026-11-30T12:00:{n:02}.{n}123Z INFO ready",
    "pid": lambda n: f"[1] {31200 + 7 * n}\nstarted with pid={31201 + n}",
    "duration": lambda n: f"5 passed in {n}.{n}3s" if n % 2 else f"5 passed in {n}30 ms",
    "address": lambda n: f"<object at 0x7f{n}a{n}b3c0ff{n}>",
    "uuid": lambda n: f"job 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4be{n}",
    "commit": lambda n: f"HEAD is now at {n}c6da28{n}",
    "temp": lambda n: f"wrote /tmp/pytest-of-me/pytest-{n}/x_{n}a/out.csv",
    "colour": lambda n: f"\x1b[3{n}mFAILED\x1b[0m one",
    "progress": lambda n: "".join(f"\r{n * m} %|##|" for m in range(n)) + "\rdone",
    "number": lambda n: f"load {n * 3 % 7 / 7}, {n * 5 % 7},{n % 2}00 rows, of 8",
    "clock": lambda n: f"at {1764516000 + n}.{n}25 and {1764516000123 + n}",
    "long": lambda n: "x" * LONGEST + f"{n} things " * 50 + "y" * LONGEST,
}


@pytest.mark.parametrize("kind", VOLATILE)
@pytest.mark.parametrize("make", [shell, lambda text, out: cell(text, printed(out))])
def test_what_differs_by_itself_does_not_hide_a_loop(kind, make):
    loops = found(*endless(lambda n: make("look", VOLATILE[kind](n + 1)), 8))
    assert [(at, loop.pattern) for at, loop in loops] == [(4, "same_action"), (8, "same_action")]


def test_a_process_that_is_begun_and_killed_again_and_again():
    def step(n: int) -> Step:
        pid = 4000 + n - n % 2
        return shell(f"kill {pid}") if n % 2 else shell("server &", f"[1] {pid}")

    assert [(at, loop.pattern, loop.length) for at, loop in found(*endless(step, 6))] == [
        (6, "cycle", 2)
    ]


@pytest.mark.parametrize("length", [2, 3, 4])
def test_rounds_of_several_steps(length):
    steps = [shell(f"step {'abcd'[n]}", "\n".join("xyzw"[: n + 1])) for n in range(length)]
    # What was done before the loop is no part of it.
    before = [shell("begin", "well")]
    loops = found(*before, *islice(cycle(steps), 6 * length))
    assert [(at - 1, loop.pattern, loop.length, loop.times) for at, loop in loops] == [
        (3 * length, "cycle", length, 3),
        (6 * length, "cycle", length, 3),
    ]
    assert [loop.stopped for _, loop in loops] == [False, True]
    assert loops[0][1].first == 4


def test_the_same_error():
    failing = cell("1/0", Output(kind="error", ename="ZeroDivisionError", text="line 1"), ok=False)
    assert [(at, loop.pattern) for at, loop in found(*[failing] * 3)] == [(3, "same_error")]
    assert [at for at, _ in found(*[shell("cat x", "no such file", 1)] * 3)] == [3]


def test_the_same_refusal_of_a_tool_whatever_it_was_asked():
    refused = ErrorObservation(code="refused", message="Ask mode changes nothing.")
    loops = found(*[(CmdRunAction(command=f"rm {name}"), refused) for name in "abc"])
    assert [(at, loop.pattern) for at, loop in loops] == [(3, "same_error")]
    unknown = InvalidToolCallAction(message="There is no tool fly.")
    assert [(at, loop.pattern) for at, loop in found(*[(unknown, None)] * 3)] == [(3, "same_error")]


def test_programs_that_fail_alike_are_no_loop_where_what_is_run_differs():
    assert not found(*endless(lambda n: shell(f"grep word{n} *.py", "", 1)))
    assert not found(*endless(lambda n: shell(f"sed -i s/{n}/x/ a.py && pytest", "1 failed", 1)))


def test_talk_without_doing_anything():
    talk = [
        AgentThinkAction(thought="I should look at it."),
        AgentMessageAction(content="I will look."),
        AgentThinkAction(thought="Let me think about looking."),
    ]
    loops = found(*[(action, None) for action in talk * 2])
    assert [(at, loop.pattern) for at, loop in loops] == [(3, "monologue"), (6, "monologue")]
    assert not found(*[(talk[0], None), shell("ls", "a"), (talk[1], None), shell("cat a")] * 2)


def test_a_history_that_condensing_does_not_shorten():
    def loops(*done: CondensationAction | Step) -> list[str]:
        watched = Watched()
        told = []
        for what in done:
            if isinstance(what, CondensationAction):
                watched.add(what, source="agent")
                told.append(watched.detector.check())
            else:
                told.append(watched.step(what))
        return [loop.pattern for loop in told if loop]

    def condensed(to: int) -> CondensationAction:
        return CondensationAction(
            condenser="llm", reason="tokens", tokens_before=1000, tokens_after=to
        )

    steps = [shell(f"step {n}", "x" * n) for n in range(9)]
    assert loops(*[condensed(400)] * 3) == ["condensing"], "again and again, with nothing done"
    useless = [what for step in steps[:3] for what in (condensed(950), step)]
    assert loops(*useless) == ["condensing"], "it cannot be done, however often"
    useful = [what for step in steps for what in (condensed(400), step)]
    assert loops(*useful) == []


# What looks alike and is none


def test_waiting_for_what_was_begun():
    running = CmdOutputObservation(content="", running=True)
    assert not found(shell("make all"), *[(CmdRunAction(command=""), running)] * 40)
    waits = (
        AwaitRunAction(run="r1"),
        NotebookRunObservation(path="a.ipynb", run="r1", state="running"),
    )
    assert not found(*[waits] * 40)
    # Where nothing runs, there is nothing to wait for.
    nothing = ErrorObservation(code="nothing_runs", message="No command runs.")
    assert [at for at, _ in found(*[(CmdRunAction(command=""), nothing)] * 3)] == [3]


def test_looking_now_and_then_how_far_it_is():
    def look(n: int) -> Step:
        return shell("sleep 60; tail -n 1 train.log", f"epoch {n} loss {1 / (n + 1):.3f} 12:{n}")

    assert not found(*endless(look))


PROGRESS: dict[str, Callable[[int], str]] = {
    "counter": lambda n: f"step {n} of 5000",
    "metric": lambda n: f"loss {2 / (n + 1):.4f}, accuracy {n * 37 % 11 / 11:.2f}",
    "slow": lambda n: f"epoch {n // 3}",
    "thousands": lambda n: f"{n + 1},{n * 331 % 1000:03} rows at 12:00:{n % 60:02}",
    "exponent": lambda n: f"residual 3.{n * 7 % 10}e-{n + 1}",
    "size": lambda n: f"-rw-r--r-- 1 me me {n * n + 1}00 Nov 30 12:{n} model.bin",
    "bar": lambda n: f"\r {n} %|#|\r {n + 1} %|##|",
}


@pytest.mark.parametrize("kind", PROGRESS)
@pytest.mark.parametrize("make", [shell, lambda text, out: cell(text, printed(out))])
def test_a_number_that_only_grows_or_only_falls_is_progress(kind, make):
    assert not found(*endless(lambda n: make("look", PROGRESS[kind](n))))


def test_progress_between_other_steps():
    def step(n: int) -> Step:
        return shell("tail -n 1 log", f"epoch {n}") if n % 2 else shell("ls", "log")

    assert not found(*endless(step))
    jumping = endless(
        lambda n: shell("tail log", f"epoch {(n // 2) ** 2 % 5}") if n % 2 else step(0)
    )
    assert found(*jumping)


def test_progress_that_ends():
    loops = found(*endless(lambda n: shell("look", f"epoch {min(n, 10)} of 10"), 20))
    assert loops[0][0] == 14, "four times the same"


def test_numbers_that_are_no_progress():
    failing = endless(lambda n: shell("fetch", f"try {n} failed", 1))
    assert found(*failing)[0][1].pattern == "same_error"
    for command in ("ps aux | grep train", "pgrep -f train", "echo $$", "date +%N"):
        assert found(*endless(lambda n, run=command: shell(run, f"{4000 + 3 * n}"))), command
    assert found(*endless(lambda n: cell("time.perf_counter()", printed(f"{n / 3}"))))


def test_a_cell_that_waits_for_what_does_not_come():
    def look(n: int) -> Step:
        code, result = cell("sleep(60); print(status())", printed("queued"))
        return code, msgspec.structs.replace(result, execution_count=n + 1)

    assert found(*endless(look))

    def run(n: int) -> Step:
        result = KernelCodeObservation(path="a.ipynb", kernel="k", seconds=n / 3)
        return KernelCodeAction(path="a.ipynb", code="f()"), result

    assert found(*endless(run))


def test_reading_a_file_in_pieces():
    def piece(n: int) -> Step:
        content = "\n".join(f"{m},{m * n}" for m in range(100))
        read = FileReadAction(path="data.csv", start=n * 100 + 1, end=n * 100 + 100)
        return read, FileReadObservation(path="data.csv", content=content, start=n * 100 + 1)

    assert not found(*endless(piece))
    assert not found(*endless(lambda n: shell(f"sed -n {n},{n + 9}p data.csv", f"{n},{n + 1}")))


def test_running_the_same_test_after_different_edits():
    def step(n: int) -> Step:
        if n % 2:
            return shell("pytest -q", "1 failed in 0.1s", 1)
        edit = FileEditAction(
            path="a.py", command="str_replace", old_str=f"{n}", new_str=f"{n + 2}"
        )
        return edit, FileEditObservation(path="a.py", content=f"{n + 2}", old_content=f"{n}")

    assert not found(*endless(step))


def test_the_same_cell_that_shows_another_picture():
    def plot(n: int) -> Step:
        picture = Blob(sha256=f"{n:064x}", media_type="image/png", size=100)
        return cell("plot()", Output(kind="display_data", data={"image/png": picture}))

    assert not found(*endless(plot))
    assert found(*endless(lambda _: plot(1)))


def test_several_calls_of_one_response_are_one_step():
    watched = Watched()
    refused = ErrorObservation(code="refused", message="No.")
    for n in range(2):
        assert not watched.step(*[(CmdRunAction(command="x"), refused)] * 5, response=f"r{n}")
    loop = watched.step(*[(CmdRunAction(command="x"), refused)] * 5, response="r2")
    assert loop is not None
    assert (loop.pattern, loop.times) == ("same_error", 3)


@pytest.mark.parametrize(
    ("event", "anew"),
    [
        (UserMessageAction(content="try the other one", source="user"), True),
        (ChangeAgentStateAction(command="run", source="user"), True),
        (ConfirmationAction(decision="approve", source="user"), False),
    ],
)
def test_what_the_person_does_begins_anew(event, anew):
    watched = Watched()
    for _ in range(3):
        assert watched.step(shell("make", "ok")) is None
    watched.add(event)
    assert (watched.step(shell("make", "ok")) is None) == anew


def test_another_loop_long_after_is_told_again_before_it_stops():
    steps = [*[shell("one")] * 4, *endless(lambda n: shell(f"other {n}"), 31), *[shell("two")] * 4]
    assert [loop.stopped for _, loop in found(*steps)] == [False, False]


@given(st.lists(st.text("abc", min_size=1, max_size=2), min_size=1, max_size=60))
def test_no_alarm_without_a_repetition(commands):
    """Whatever is done: an alarm means that the last steps repeat those before them."""
    steps = [shell(name, name) for name in commands]
    for at, loop in found(*steps):
        round_of = commands[at - loop.length : at]
        assert commands[at - loop.length * loop.times : at] == round_of * loop.times


@given(st.permutations(range(30)))
def test_no_alarm_where_every_step_is_another(order):
    letters = [shell(f"do {chr(97 + n % 26)}{chr(97 + n // 26)}", "done") for n in order]
    assert not found(*letters)


def test_work_and_memory_do_not_grow_with_the_history():
    watched = Watched()

    def seconds(steps: Iterable[int]) -> float:
        before = time.process_time()
        for n in steps:
            watched.step(shell(f"step {n}", "some output\n" * 20))
        return time.process_time() - before

    first = seconds(range(1000))
    seconds(range(1000, 4000))
    assert seconds(range(4000, 5000)) < 3 * first + 0.1
    assert len(watched.detector._steps) <= 12
    assert not watched.detector._open


# What the controller makes of it

LOOK = CmdRunAction(command="date")


async def test_the_agent_is_told_then_paused_and_a_hint_helps(bench):
    async with bench(*[LOOK] * 20) as b:
        b.say("go")
        paused = await b.until("paused")
        assert paused.code == "stuck"
        told, stopped = b.events(StuckObservation)
        assert [told.stopped, stopped.stopped] == [False, True]
        looks = b.events(CmdRunAction)
        assert len(looks) == 8
        assert stopped.first == looks[0].id
        assert b.state.stuck == stopped
    # It is still known after a restart, with the ways on.
    async with bench(LOOK) as b:
        assert (b.state.agent_state, b.state.stuck.first) == ("paused", stopped.first)
        b.say("ask the clock less often")
        await b.until("finished")
        assert b.state.stuck is None


async def test_it_can_be_switched_off(bench):
    async with bench(*[LOOK] * 10) as b:
        b.stream.append(ChangeSettingsAction(stuck_detection=False))
        b.say("go")
        await b.until("finished")
        assert not b.events(StuckObservation)
