"""Tool calls in plain text: how they are asked for, read and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openhands_jupyter.llm import prompted
from openhands_jupyter.llm.base import Delta, Message, Response, Tool, ToolCall
from openhands_jupyter.llm.calls_in_text import read
from openhands_jupyter.llm.prompted import as_text, describe, refuses_tools


def tool(name: str, required: list[str], **kinds: str) -> Tool:
    properties = {key: {"type": kind, "description": f"The {key}."} for key, kind in kinds.items()}
    parameters = {"type": "object", "properties": properties, "required": required}
    return Tool(name=name, description=f"Does {name}.", parameters=parameters)


TOOLS = [
    tool("execute_bash", ["command"], command="string", timeout="number", is_input="boolean"),
    tool("run_code", ["code"], code="string"),
    tool("write_file", ["path", "content"], path="string", content="string"),
    tool("update_plan", ["tasks"], tasks="array"),
]
LS = [("execute_bash", {"command": "ls -l"})]


def calls(reply: str) -> list[tuple[str, Any]]:
    return [(name, json.loads(arguments)) for name, arguments in read(reply, TOOLS).calls]


ARGUMENT = '<argument name="command">\nls -l\n</argument>'
ONE_LINE = '<argument name="command">ls -l</argument>'
PARAMETER = "<parameter=command>\nls -l\n</parameter>"
FUNCTION = f"<function=execute_bash>\n{PARAMETER}\n</function>"
ARGUMENTS = '{"command": "ls -l"}'
JSON = f'{{"name": "execute_bash", "arguments": {ARGUMENTS}}}'
ESCAPED = json.dumps(ARGUMENTS)
FORMS = {
    "ours": f'<tool_call name="execute_bash">\n{ARGUMENT}\n</tool_call>',
    "on one line": f'<tool_call name="execute_bash">{ONE_LINE}</tool_call>',
    "without its end": f'<tool_call name="execute_bash">\n{ONE_LINE}',
    "without any end": '<tool_call name="execute_bash">\n<argument name="command">\nls -l\n',
    "with a result": f'<tool_call name="execute_bash">{ONE_LINE}</tool_call>\nIt shows:\na b\n',
    "function and parameter": FUNCTION,
    "these within a tag": f"<tool_call>\n{FUNCTION}\n</tool_call>",
    "invoke": '<invoke name="execute_bash"><parameter name="command">ls -l</parameter></invoke>',
    "JSON within a tag": f"<tool_call>\n{JSON}\n</tool_call>",
    "JSON within a named tag": f'<tool_call name="execute_bash">{ARGUMENTS}</tool_call>',
    "bare text": '<tool_call name="execute_bash">\nls -l\n</tool_call>',
    "the name as a tag": "<execute_bash>\nls -l\n</execute_bash>",
    "JSON alone": JSON,
    "JSON of other words": f'{{"tool": "execute_bash", "parameters": {ARGUMENTS}}}',
    "JSON as text in JSON": f'{{"name": "execute_bash", "arguments": {ESCAPED}}}',
    "JSON of OpenAI": f'{{"tool_calls": [{{"type": "function", "function": {JSON}}}]}}',
    "JSON in a block": f"```json\n{JSON}\n```",
    "JSON in a block without its end": f"```json\n{JSON}",
    "JSON in Python's quotes": JSON.replace('"', "'"),
    "arguments in tags of their own": "<execute_bash><command>ls -l</command></execute_bash>",
    "tokens of Llama": f"<|python_tag|>{JSON}<|eom_id|>",
    "tokens of Mistral": f"[TOOL_CALLS] [{JSON}]",
    "newer tokens of Mistral": f"[TOOL_CALLS]execute_bash[ARGS]{ARGUMENTS}",
    "tokens of DeepSeek": f"<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>execute_bash"
    f"\n```json\n{ARGUMENTS}\n```<|tool_call_end|><|tool_calls_end|>".replace("|", "\uff5c"),
    "tokens of Kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.execute_bash:0"
    f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "tokens of gpt-oss": "<|channel|>commentary to=functions.execute_bash <|constrain|>json"
    f"<|message|>{ARGUMENTS}<|call|>",
    "tags of GLM": "<tool_call>execute_bash\n<arg_key>command</arg_key>\n"
    "<arg_value>ls -l</arg_value>\n</tool_call>",
    "an action and its input": f"Action: execute_bash\nAction Input: {ARGUMENTS}\nObservation: a",
    "an action and its input in words": "Action: `execute_bash`\nAction Input: ls -l",
    "Python": "```tool_code\nexecute_bash(command='ls -l')\n```",
    "Python in a list": '[execute_bash(command="ls -l")]',
    "a block of code": "```bash\nls -l\n```",
    "a block without its end": "```sh\nls -l\n",
}
THOUGHTS = "<think>\nls? <tool_call>\n</think>\nI look.\n"


@pytest.mark.parametrize("before", ["", "I look.\n\n", THOUGHTS])
@pytest.mark.parametrize("form", FORMS)
def test_calls_are_read_in_many_forms(form: str, before: str) -> None:
    assert calls(before + FORMS[form]) == LS
    assert read(before + FORMS[form], TOOLS).text in ("", "I look.")


def test_code_is_taken_as_it_stands() -> None:
    code = 'if a < b:\n    print("</param>", {"x": 1})\n\n# ```\nx = """<argument>"""\n'
    reply = (
        f'<tool_call name="run_code">\n<argument name="code">\n{code}\n</argument>\n</tool_call>'
    )
    assert calls(reply) == [("run_code", {"code": code})]
    assert calls("```python\nrun_code(code=x)\n```") == [("run_code", {"code": "run_code(code=x)"})]
    assert calls("Now:\n```python\nx = 1\nprint(x)\n```\n") == [
        ("run_code", {"code": "x = 1\nprint(x)"})
    ]


def test_values_are_of_the_kind_that_the_tool_takes() -> None:
    reply = (
        '<tool_call name="execute_bash"><argument name="command">1</argument>'
        '<argument name="timeout">\n2.5\n</argument>'
        '<argument name="is_input">true</argument></tool_call>'
    )
    assert calls(reply) == [("execute_bash", {"command": "1", "timeout": 2.5, "is_input": True})]
    tasks = '<argument name="tasks">[{"title": "a"}]</argument>'
    plan = f'<tool_call name="update_plan">{tasks}</tool_call>'
    assert calls(plan) == [("update_plan", {"tasks": [{"title": "a"}]})]


def test_calls_that_follow_each_other_are_all_read_and_no_later_ones() -> None:
    one = FORMS["ours"]
    assert len(calls(f"{one}\n{one}\n{one}")) == 3
    assert len(calls(f"[TOOL_CALLS] [{JSON}, {JSON}]")) == 2
    assert len(calls(FORMS["newer tokens of Mistral"] * 2)) == 2
    assert len(calls("```tool_code\nexecute_bash(command='a')\nrun_code(code='b')\n```")) == 2
    assert len(calls(f"{one}\n<tool_result>a.txt</tool_result>\n{one}")) == 1


@pytest.mark.parametrize(
    "words",
    [
        "It is 42.",
        "Tokens such as <|im_end|> end a message; execute_bash runs a command.",
        "Action: think about it.\nThen go on.",
        "[1, 2] and print(x)",
        "Compare a < b and `<div>`; see {curly} and [1].",
        "First:\n```python\nx = 1\n```\nand then:\n```bash\nls\n```\nThat is all.",
        "You could write\n```python\nx = 1\n```\nwhich sets x.",
        '{"answer": 42}',
        '```json\n{"name": "Ada", "age": 36}\n```',
    ],
)
def test_words_are_no_calls(words: str) -> None:
    reading = read(words, TOOLS)
    assert (reading.text, reading.calls, reading.problem) == (words, [], "")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (
            '{"name": "execute_bash", "arguments": {"command": "ls}',
            "JSON of your call cannot be read",
        ),
        ("<tool_call>\nls it\n</tool_call>", "JSON of your call cannot be read"),
        ("Action: write_file\nAction Input: a.txt", "arguments of write_file are no JSON object"),
        ('[TOOL_CALLS]execute_bash[ARGS]{"command": "ls', "JSON of your call cannot be read"),
        ('<tool_call>{"command": "ls"}</tool_call>', "does not name its tool"),
        ('<tool_call name="write_file">a.txt: hello</tool_call>', "arguments of write_file cannot"),
        ('```json\n{"tool": "execute_bash", "args": {"command" "ls"}}\n```', "no JSON object"),
    ],
)
def test_what_cannot_be_read_is_told_precisely(reply: str, told: str) -> None:
    reading = read(f"Well.\n{reply}", TOOLS)
    assert told in reading.problem
    assert reading.text == "Well."
    assert reading.rest.strip() in reply
    assert not reading.calls


PIECES = [
    *'<>/={}[]"`\n abct_ol5',
    *("<tool_call", "name=", "```json", "<argument", "</", '{"tool_calls":', '"name":'),
]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_reply_is_read(pieces: list[str]) -> None:
    read("".join(pieces), TOOLS)


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "reply",
    [
        '{"tool_calls": 5}',
        '{"tool_calls": null}',
        DEEP,
        f'{{"name": "execute_bash", "arguments": {DEEP}',
    ],
)
def test_nonsense_calls_nothing(reply: str) -> None:
    assert not read(reply, TOOLS).calls


def test_a_long_reply_is_read_in_no_time() -> None:
    for piece in ("<tool_call ", "<argument name=", "```\n", "{\n", "<think>", "</argument>"):
        read(piece * 20_000, TOOLS)
    # Whatever the interpreter's limit is.
    read(f'<tool_call name="read_file"><argument name="start">{DEEP}</argument></tool_call>', TOOLS)


def test_the_prompt_describes_the_tools_and_holds_no_calls_of_the_protocol() -> None:
    given = [
        Message(role="system", content="You help."),
        Message(role="user", content="List."),
        Message(
            role="assistant",
            content="I look.",
            tool_calls=[
                ToolCall(id="c1", name="execute_bash", arguments='{"command":"ls"}'),
                ToolCall(id="c2", name="update_plan", arguments='{"tasks":[]}'),
            ],
        ),
        Message(role="tool", tool_call_id="c1", content="a.txt"),
        Message(role="tool", tool_call_id="c2", content="Noted."),
        Message(role="user", content=[{"type": "text", "text": "[image]"}]),
    ]
    told = as_text(given, TOOLS)
    assert [message.role for message in told] == ["system", "user", "assistant", "user"]
    assert not any(message.tool_calls or message.tool_call_id for message in told)
    assert told[0].content.startswith("You help.")
    assert "- command (string, required): The command." in told[0].content
    assert calls(told[2].content) == [
        ("execute_bash", {"command": "ls"}),
        ("update_plan", {"tasks": []}),
    ]
    assert [part["text"] for part in told[3].content][-1] == "[image]"
    assert '<tool_result name="execute_bash">\na.txt\n' in told[3].content[0]["text"]
    longer = as_text([*given, Message(role="assistant", content="Done.")], TOOLS)
    assert longer[:-1] == told, "a prompt begins as the one before it"


def test_the_example_in_the_prompt_is_in_the_form_that_is_read() -> None:
    example = describe(TOOLS).partition("<tool_call")
    reading = read("".join(example[1:]), [*TOOLS, tool("NAME_OF_THE_TOOL", [])])
    assert reading.calls[0][0] == "NAME_OF_THE_TOOL"


# Streaming


async def streamed(reply: str, size: int) -> tuple[Response, list[Delta]]:
    deltas: list[Delta] = []

    async def ask(messages: Any, tools: Any, on_delta: Any) -> Response:
        assert not tools
        for start in range(0, len(reply), size):
            on_delta(Delta(kind="text", text=reply[start : start + size]))
        return Response(id="r", model="m", text=reply)

    response = await prompted.complete(
        ask, [Message(role="user", content="x")], TOOLS, deltas.append
    )
    return response, deltas


def shown(deltas: list[Delta], kind: str = "text") -> str:
    return "".join(delta.text for delta in deltas if delta.kind == kind)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("form", FORMS)
async def test_the_words_are_streamed_and_the_call_is_not(form: str, size: int) -> None:
    response, deltas = await streamed("I look at it, <b>now</b>.\n\n" + FORMS[form], size)
    seen_late = ("JSON", "action", "list")
    if not any(word in form for word in seen_late) or "block" in form or "tag" in form:
        assert shown(deltas).strip() == "I look at it, <b>now</b>."
    assert response.prompted
    assert response.text == "I look at it, <b>now</b>."
    assert len(response.tool_calls) == 1


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_words_are_streamed_whole(size: int) -> None:
    reply = "a < b, `x`, <div>\n```python\nx = 1\n```\nand so on, <"
    response, deltas = await streamed(f"<think>so</think>{reply}", size)
    assert shown(deltas) == reply
    assert shown(deltas, "reasoning") == "so"
    assert (response.text, response.reasoning) == (reply, "so")


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/gemma does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "No endpoints found that support tool use.",
        "`tool calling` is not supported with this model",
        "tools param requires --jinja flag",
    ],
)
def test_servers_that_take_no_tools_are_known_by_what_they_say(message: str) -> None:
    assert refuses_tools(f"The model server did not accept the request. It said: {message}")
    assert not refuses_tools("Invalid tool_call_id")
