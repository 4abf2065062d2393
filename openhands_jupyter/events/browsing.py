"""Pages of the web, as an agent reads them."""

from __future__ import annotations

from typing import ClassVar

from .event import Action, Blob, Observation
from .running import Output


class BrowseURLAction(Action, frozen=True, kw_only=True, tag=True):
    """Fetch a page from inside the sandbox, and read it.

    Attributes
    ----------
    url
        Where it is: ``http`` or ``https``, without user and password.
    start
        The first character of its text that is read, counted from 0: a long page is read in parts.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    url: str
    start: int = 0


class BrowserOutputObservation(Observation, frozen=True, kw_only=True, tag=True):
    """What a page shows; all of it is of whoever made the page, and untrusted.

    Attributes
    ----------
    url
        Where it was found in the end, after redirects.
    status
        Of the last answer, as in RFC 9110; None where there was none.
    title
        The page's, on one line.
    media_type
        What the answer said that it is, such as ``text/html``.
    content
        The text, of an HTML page in Markdown: the part that was asked for.
    start
        The place of its first character in the whole text.
    total
        Characters of the whole text.
    cut
        Whether the page was longer than what is read of one.
    outputs
        Its pictures, if any.
    """

    url: str
    status: int | None = None
    title: str = ""
    media_type: str = ""
    content: str | Blob = ""
    start: int = 0
    total: int = 0
    cut: bool = False
    outputs: list[Output] = []
