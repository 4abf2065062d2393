"""What is said and thought, and what the model is shown."""

from __future__ import annotations

from ...agents.skills.telling import skill_given
from ...events import (
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentMessageAction,
    AgentThinkAction,
    CondensationAction,
    FinishAction,
    HookObservation,
    InvalidToolCallAction,
    PlanHandOverAction,
    PlanHandOverObservation,
    QuarantineAction,
    RejectAction,
    SkillObservation,
    SkillsObservation,
    TaskTrackingAction,
    UserMessageAction,
    UseSkillAction,
)
from .page import Page, show

_MARKS = {"todo": "[ ]", "in_progress": "[>]", "done": "[x]"}


@show.register
def _(event: UserMessageAction, page: Page) -> None:
    page.head(event, f"You: {event.content}", "cyan")


@show.register
def _(event: AgentMessageAction, page: Page) -> None:
    page.head(event, "Agent:")
    page.block("", event.content)
    for number, option in enumerate(event.options, 1):
        page.block(f"{number}. ", option)
    if event.notice:
        page.block("", event.notice, "yellow")


@show.register
def _(event: AgentDelegateAction, page: Page) -> None:
    page.head(event, f"Gives a task to {event.agent}:")
    page.block("", event.task)


@show.register
def _(event: AgentDelegateObservation, page: Page) -> None:
    end = "is done" if event.status == "finished" else "declined the task"
    page.head(event, f"{event.agent} {end}", "dim")
    page.block("", event.content)


@show.register
def _(event: PlanHandOverAction, page: Page) -> None:
    page.head(event, f"Asks to hand the plan in {event.path} to {event.agent}")
    page.block("", event.plan)


@show.register
def _(event: PlanHandOverObservation, page: Page) -> None:
    page.head(event, f"Agent: {event.agent}, with the plan in {event.path}", "cyan")


@show.register
def _(event: AgentThinkAction, page: Page) -> None:
    page.head(event, "Thinks", "dim")
    page.block("", event.thought, "dim")


@show.register
def _(event: HookObservation, page: Page) -> None:
    tool = f" of {event.tool}" if event.tool else ""
    told = f"Hook {event.command} for {event.event}{tool}: {event.outcome}"
    page.head(event, told, "dim" if event.outcome == "told" else "yellow")
    page.block("", event.content, "dim")


@show.register
def _(event: UseSkillAction, page: Page) -> None:
    page.head(event, f"Asks for the skill {event.skill} {event.file}".rstrip(), "dim")


@show.register
def _(event: SkillsObservation, page: Page) -> None:
    if event.skills:
        names = ", ".join(skill.name for skill in event.skills)
        page.head(event, f"Skills: {names}", "dim")
    for problem in event.problems:
        page.block("", problem, "yellow")


@show.register
def _(event: SkillObservation, page: Page) -> None:
    page.head(event, f"{skill_given(event)}.", "dim")


@show.register
def _(event: InvalidToolCallAction, page: Page) -> None:
    page.head(event, f"The model has to mend its reply: {event.message}", "dim")


@show.register
def _(event: CondensationAction, page: Page) -> None:
    what = "summed up" if event.condenser == "llm" else "left out"
    told = (
        f"Older steps are {what} for the model from here on: "
        f"about {event.tokens_before:,} tokens became {event.tokens_after:,}"
    )
    page.head(event, told, "dim")
    if event.summary:
        page.block("", event.summary, "dim")


@show.register
def _(event: QuarantineAction, page: Page) -> None:
    what = "images of " if event.only_images else ""
    items = ", ".join(map(str, event.items))
    page.head(event, f"Kept from the model, which refused it: {what}{items}", "yellow")
    page.block("", event.message, "dim")


@show.register
def _(event: TaskTrackingAction, page: Page) -> None:
    page.head(event, "Plan")
    for task in event.tasks:
        page.block(f"{_MARKS[task.status]} ", task.title)


@show.register
def _(event: FinishAction, page: Page) -> None:
    page.head(event, "Done", "green")
    page.block("", event.message)


@show.register
def _(event: RejectAction, page: Page) -> None:
    page.head(event, "Declined", "red")
    page.block("", event.message)
