"""Text as it stands in a file: with an encoding, a newline style and a mode that an edit keeps."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
import tempfile

from .errors import ActionError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class TextFile:
    """Decoded text, and what is needed to encode a change of it in the same way.

    Attributes
    ----------
    text
        The text, with ``\\n`` for newlines where the file uses one style throughout.
    raw
        The bytes that it was decoded from.
    """

    def __init__(
        self, text: str, raw: bytes = b"", encoding: str = "utf-8", newline: str = "\n"
    ) -> None:
        self.text = text
        self.raw = raw
        self._encoding = encoding
        self._newline = newline

    @classmethod
    def from_bytes(cls, raw: bytes) -> TextFile | None:
        """Decode; None if this is no text."""
        encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "")
        if not encoding and b"\0" in raw:
            return None
        for name in (encoding,) if encoding else ("utf-8", "latin-1"):
            with contextlib.suppress(UnicodeDecodeError):
                return cls._from_text(raw.decode(name), raw, name)
        return None

    @classmethod
    def _from_text(cls, text: str, raw: bytes, encoding: str) -> TextFile:
        pairs = text.count("\r\n")
        if pairs and pairs == text.count("\n") == text.count("\r"):
            return cls(text.replace("\r\n", "\n"), raw, encoding, "\r\n")
        return cls(text, raw, encoding)

    def encode(self, text: str, path: str) -> bytes:
        """Encode a change of this text like this one.

        Raises
        ------
        ActionError
            ``wrong_encoding`` when the encoding cannot hold the new text. To change it unasked
            would make something else of the text that is there already.
        """
        try:
            return self._with_newlines(text).encode(self._encoding)
        except UnicodeEncodeError as error:
            raise ActionError(
                "wrong_encoding",
                f"{path} is not in UTF-8, and its encoding may not hold {text[error.start]!r}.",
                "Convert the file first, such as with iconv, or leave out what is not ASCII.",
            ) from error

    def encode_new(self, text: str) -> bytes:
        """Encode another text in the place of this one; in UTF-8 if the old encoding cannot."""
        text = self._with_newlines(text)
        try:
            return text.encode(self._encoding)
        except UnicodeEncodeError:
            return text.encode("utf-8", "replace")

    def _with_newlines(self, text: str) -> str:
        if self._newline == "\r\n" and "\r" not in text:
            return text.replace("\n", "\r\n")
        return text


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as editors and ``grep -n`` count them.

    Unlike `str.splitlines`, which takes a form feed or U+2028 for the end of a line too.
    """
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def load(full: str, path: str, limit: int) -> TextFile:
    """Load a text file.

    Parameters
    ----------
    full
        Where it is.
    path
        What it is called in an error.
    limit
        Bytes above which it is refused.

    Raises
    ------
    ActionError
        ``too_large``, ``not_text`` or ``not_a_file``.
    OSError
        When it cannot be read.
    """
    # Without waiting, because opening a pipe would wait for its other end.
    fd = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ActionError("not_a_file", f"{path} is a device or a pipe, not a file.")
        if info.st_size > limit:
            raise ActionError(
                "too_large",
                f"{path} has {info.st_size:,} bytes, too many to read at once.",
                "Look at parts of it with a command such as head, tail or grep, "
                "or load it in a cell.",
            )
        raw = file.read(limit + 1)
    text = TextFile.from_bytes(raw)
    if text is None:
        raise ActionError(
            "not_text",
            f"{path} is not a text file.",
            "Look at it with a command such as file or xxd, or load it in a cell.",
        )
    return text


def store(full: str, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new content, never a part.

    Raises
    ------
    OSError
        When it cannot be written; the old file then stands as it was.
    """
    old: os.stat_result | None = None
    with contextlib.suppress(FileNotFoundError):
        old = os.stat(full)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(full)
    fd, temporary = tempfile.mkstemp(prefix=".openhands-", dir=os.path.dirname(full))
    try:
        with open(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(fd, stat.S_IMODE(old.st_mode) if old else 0o666 & ~_umask())
            if old is not None:
                with contextlib.suppress(OSError):
                    os.fchown(fd, old.st_uid, old.st_gid)
        os.replace(temporary, full)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    # Reading it means setting it: a moment in which a parallel file gets the stricter mode.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
