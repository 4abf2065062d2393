"""A pseudo terminal: where a shell's programs print, and what is typed for them."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios

WINDOW_SIZE = (50, 160, 0, 0)
LONGEST_LINE = 4095
"""Bytes of a line that a terminal holds, its end included: N_TTY_BUF_SIZE - 1 of Linux."""


class Terminal:
    """An open terminal.

    Attributes
    ----------
    master
        The descriptor of our end; it never blocks.
    name
        The path of the other end.
    """

    def __init__(self) -> None:
        self.master, self._slave = os.openpty()
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self._slave)
        self.prepare()

    def prepare(self) -> None:
        """Make it as a new command expects it, whatever the one before did to it."""
        attributes = termios.tcgetattr(self._slave)
        attributes[0] |= termios.ICRNL
        attributes[1] &= ~termios.OPOST
        attributes[3] |= termios.ICANON | termios.ISIG
        attributes[3] &= ~(termios.ECHO | termios.ECHONL)
        termios.tcsetattr(self._slave, termios.TCSANOW, attributes)
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", *WINDOW_SIZE))
        self.drop_typed()

    def drop_typed(self) -> None:
        """Throw away what was typed and not read, on its way to the programs and with them."""
        termios.tcflush(self.master, termios.TCOFLUSH)
        termios.tcflush(self._slave, termios.TCIFLUSH)

    def takes(self, data: bytes) -> bool:
        """Whether no line of what is to be typed is too long."""
        if not termios.tcgetattr(self._slave)[3] & termios.ICANON:
            return True
        return max(map(len, data.split(b"\r"))) < LONGEST_LINE

    def is_readable(self) -> bool:
        """Whether something was printed that has not been read."""
        return bool(select.select([self.master], [], [], 0)[0])

    def close(self) -> None:
        """Hang up."""
        os.close(self.master)
        os.close(self._slave)
