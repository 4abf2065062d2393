"""Pages of the web, as an agent reads them."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from .event import Action, Blob, Observation
from .running import Output

Browsing = Literal[
    "open",
    "open_tab",
    "back",
    "click",
    "type",
    "press",
    "select",
    "scroll",
    "wait",
    "look",
    "screenshot",
    "switch_tab",
    "close_tab",
]
"""What can be done in a browser."""


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


class BrowseInteractiveAction(Action, frozen=True, kw_only=True, tag=True):
    """Do one thing in the browser of the sandbox, which is started for the first page.

    Attributes
    ----------
    do
        What.
    url
        To ``open``, or to open beside the page that is shown (``open_tab``).
    ref
        The element, such as ``e12``: of the page as it was told last.
    text
        To ``type`` in place of what is there; the key to ``press``, such as ``Control+a``; what
        the option to ``select`` is called; what to ``wait`` for; what to ``look`` for, so that
        only lines with it are told, and what they are within.
    enter
        Whether Enter is pressed after typing.
    screens
        How far to ``scroll`` down, in heights of the window; less than 0 is up.
    seconds
        To ``wait`` at most.
    tab
        Number of the tab to switch to or to close; 0 for the one that is shown.
    start
        The first character that is told of what the page shows, counted from 0.
    accept
        Whether dialogs that a page shows meanwhile are answered with OK, not with Cancel.
    page
        Address of the page that is shown; found out before the action is judged. Untrusted.
    element
        What the page says that the element is; found out likewise. Untrusted.
    """

    runnable: ClassVar[bool] = True
    changes_files: ClassVar[bool] = False

    do: Browsing
    url: str = ""
    ref: str = ""
    text: str = ""
    enter: bool = False
    screens: int = 1
    seconds: int = 5
    tab: int = 0
    start: int = 0
    accept: bool = False
    page: str = ""
    element: str = ""

    @property
    def opens(self) -> bool:
        """Whether it goes to `url`."""
        return self.do in ("open", "open_tab")

    @property
    def subject(self) -> str:
        """What it is done with, for people."""
        number = str(self.tab) if self.tab else ""
        what = (number, self.element or self.ref, self.url, self.text)
        return ", ".join(filter(None, (*what, "Enter" if self.enter else "")))


class BrowserTab(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page that is open in the browser.

    Attributes
    ----------
    tab
        Its number.
    current
        Whether it is the one that is shown.
    """

    tab: int
    url: str
    title: str = ""
    current: bool = False


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
        The part that was asked for: of a page that was fetched the text, of HTML in Markdown; of
        one in a browser its elements, as a screen reader finds them.
    start
        The place of its first character in the whole text.
    total
        Characters of the whole text.
    cut
        Whether the page was longer than what is read of one.
    outputs
        Its pictures, if any.
    tabs
        What is open in the browser.
    notes
        What happened in the browser beside that, such as dialogs and how they were answered.
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
    tabs: list[BrowserTab] = []
    notes: list[str] = []
