"""A server by hand that behaves badly: ``bad.py HOW [FOLDER]``.

hang       it does not answer when it is started
exit       it says why on its error output, and ends at once
garbage    it writes to stdout what is no message
nasty      its tools have schemas and names that providers refuse
calls      its tools hang, die, flood, leave processes behind, and change
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

RECURSIVE = {
    "type": "object",
    "properties": {
        "tree": {"$ref": "#/$defs/node"},
        "when": {"type": ["string", "null"], "format": "date-time", "pattern": "^x"},
        "bad name!": {"type": "string"},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
    },
    "required": ["tree", "bad name!"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        }
    },
    "patternProperties": {"^x-": {}},
}


def tool(name: str, schema: Any = None, description: str = "A tool.") -> dict[str, Any]:
    """A tool in a listing."""
    schema = schema or {"type": "object", "properties": {}}
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = {
    "nasty": [
        tool("tree", RECURSIVE),
        tool("ünï cödé/✓", description="x" * 5000),
        tool("a" * 100),
        tool("root", {"type": "object", "anyOf": [{"properties": {"x": {"type": "string"}}}]}),
        tool(
            "big",
            {
                "type": "object",
                "properties": {
                    f"p{n}": {"type": "string", "description": "d" * 400} for n in range(300)
                },
            },
        ),
    ],
    "calls": [
        tool(name)
        for name in ("fine", "hang", "die", "flood", "shout", "huge", "leave", "grow", "where")
    ],
}


def say(message: dict[str, Any]) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name: str) -> str:
    """Do what a tool does; give its answer."""
    match name:
        case "hang":
            if len(sys.argv) > 2:
                open(os.path.join(sys.argv[2], "hanging"), "w").close()
            time.sleep(3600)
        case "die":
            sys.stderr.write("Segmentation fault, so to speak\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        case "flood":
            note = {"method": "notifications/message", "params": {"level": "info", "data": "x"}}
            while True:
                say(note)
        case "shout":
            while True:
                os.write(2, b"so much to say\n" * 4000)
        case "huge":
            return "x" * (40 * 2**20)
        case "grow":
            TOOLS["calls"].append(tool("grown"))
            say({"method": "notifications/tools/list_changed"})
        case "where":
            return " ".join([os.getcwd(), *sys.argv[2:]])
        case "leave":
            left = subprocess.Popen(
                ["sh", "-c", "setsid sleep 3600 & echo $!; exec >&- 2>&-; sleep 3600"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )
            assert left.stdout
            return f"{left.pid} {left.stdout.readline().decode().strip()} {os.getpid()}"
    return "fine"


def main() -> None:
    """Serve."""
    how = sys.argv[1]
    if how == "exit":
        sys.exit("the license has expired")
    if how == "garbage":
        print("Welcome to the server!", "{not json", sep="\n", flush=True)
        os.write(1, b"\xff\xfe\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or how == "hang":
            continue
        method, params, number = message["method"], message.get("params", {}), message["id"]
        if method == "initialize":
            info = {"name": how, "version": "1"}
            result: Any = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        elif method == "tools/list":
            result = {"tools": TOOLS.get(how, [tool("fine")])}
        elif method == "tools/call":
            result = {"content": [{"type": "text", "text": call(params["name"])}]}
        else:
            error = {"code": -32601, "message": "Method not found"}
            say({"id": number, "error": error})
            continue
        say({"id": number, "result": result})


if __name__ == "__main__":
    main()
