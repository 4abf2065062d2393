"""How bash is started, and what it says of itself at each prompt."""

from __future__ import annotations

import re

STATUS_FD = 250
LONGEST_LISTING = 100_000

_FENCE = re.compile(rb"\x1e(\d+)\x1f")
_FENCE_START = re.compile(rb"\x1e\d*\Z")

RC = f"""\
PS1= PS2= PS4='+ '
unset HISTFILE
set +H
__openhands_ready() {{
    unset PROMPT_COMMAND
    PROMPT_COMMAND=$__openhands_prompt PS1= PS2=
    return "$1"
}}
__openhands_command=0
__openhands_prompt='{{ printf "%s\\0%s\\0%s\\0" "$__openhands_command" "$?" "$PWD" >&{STATUS_FD}
LC_ALL=C jobs -l >&{STATUS_FD}; printf "\\0" >&{STATUS_FD}
printf "\\036%s\\037" "$__openhands_command" >/dev/tty; }} 2>/dev/null'
PROMPT_COMMAND=$__openhands_prompt
"""

# The shell that opens the terminal as a session leader gets it as its controlling terminal.
START = (
    'status=$3 commands=$4; exec bash --noediting --noprofile --rcfile "$1" -i '
    f'1<>"$2" 2>&1 <&"$commands" {STATUS_FD}>&"$status" {{status}}>&- {{commands}}>&-'
)


class StatusReader:
    """Puts together what bash writes to `STATUS_FD`: four fields at each prompt."""

    def __init__(self) -> None:
        self._fields: list[bytes] = []
        self._part = b""

    def feed(self, data: bytes) -> list[list[bytes]]:
        """Take in some bytes; what is complete now: number, exit code, folder and jobs, each."""
        first, *others = data.split(b"\0")
        # Only the list of jobs can be that long.
        self._part = (self._part + first)[:LONGEST_LISTING]
        for piece in others:
            self._fields.append(self._part)
            self._part = piece
        whole = len(self._fields) // 4 * 4
        complete, self._fields = self._fields[:whole], self._fields[whole:]
        return [complete[start : start + 4] for start in range(0, whole, 4)]


def split_fences(data: bytes) -> tuple[list[bytes], bytes, bytes]:
    """Take the fences out of what the terminal gave: (numbers, output, start of another)."""
    unfinished = _FENCE_START.search(data)
    held = unfinished.group() if unfinished else b""
    data = data[: len(data) - len(held)]
    return _FENCE.findall(data), _FENCE.sub(b"", data), held
