"""Makes Markdown of an HTML page: a program of its own, because nobody knows what the page holds.

It reads the bytes of the page from its standard input; its arguments are the address and the
character set that the server told, if any. It writes JSON with ``title`` and ``text``. Where it
cannot, it ends with another exit code than 0, by itself or by the system: a page may be made to
take any memory and time. It opens no file and no connection for what stands in a page.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

from openhands_jupyter.own_limits import limit

MEMORY = 1_500_000_000
"""Bytes of address space."""

SECONDS = 20
"""Of the processor."""

LONGEST = 2_000_000
"""Characters of the text."""

LONGEST_TITLE = 300
"""Characters."""

_NOT_READ = [
    *("head", "script", "style", "noscript", "template", "dialog"),
    *("svg", "canvas", "iframe", "object", "embed", "audio", "video"),
    *("button", "input", "select", "textarea"),
]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LEADS_NOWHERE = re.compile(r"\s*(?:data|javascript|vbscript|blob|about):", re.IGNORECASE)


def main() -> int:
    """Read the page; the exit code."""
    limit(MEMORY, SECONDS)
    url, charset = sys.argv[1:3]
    title, text = read(sys.stdin.buffer.read(), url, charset)
    answer = json.dumps({"title": title, "text": text})
    sys.stdout.buffer.write(answer.encode())
    return 0


def read(page: bytes, url: str, charset: str = "") -> tuple[str, str]:
    """The title of a page, and its text in Markdown.

    Parameters
    ----------
    page
        The bytes.
    url
        Where it is; what it leads to is told from there.
    charset
        As the server told it; empty where it did not. Then the page itself may tell.
    """
    # This parser knows where elements end that pages leave open, as HTML lets them.
    soup = BeautifulSoup(page, "lxml", from_encoding=charset or None)
    title = " ".join(soup.title.get_text(" ").split()) if soup.title else ""
    base = soup.find("base", href=True)
    if base is not None:
        url = _joined(url, str(base["href"]))
    _remove(soup.find_all(_NOT_READ))
    # What the page shows nobody is there for machines, to mislead them too.
    _remove(soup.find_all(hidden=True))
    _remove(soup.find_all(style=_HIDDEN))
    _lead_on(soup, url)
    return title[:LONGEST_TITLE], _markdown(_main_part(soup))[:LONGEST]


def _is_main(tag: Tag) -> bool:
    # Selectors are not for every Python that we run on: soupsieve 4.1 reads none with 3.11.2.
    return tag.name == "main" or tag.get("role") == "main"


def _main_part(soup: BeautifulSoup) -> Tag:
    """What the page is about, without what stands around it on all pages of its site."""
    for part in soup.find_all(_is_main):
        if part.get_text(strip=True):
            return part
    return soup.body or soup


def _markdown(part: Tag) -> str:
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", code_language_callback=_language, wrap=False
    )
    try:
        text = converter.convert_soup(part)
    except RecursionError:
        # Nested more deeply than anybody writes; what it says is there all the same.
        text = part.get_text("\n", strip=True)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _language(block: Tag) -> str:
    """The language of a block of code, by the class that highlighters go by."""
    for tag in (block, *block.find_all("code")):
        for name in tag.get_attribute_list("class"):
            found = re.fullmatch(r"(?:language|lang|highlight)-(\w+)", name or "")
            if found:
                return found[1]
    return ""


def _remove(tags: Iterable[Tag]) -> None:
    for tag in tags:
        # One within another is gone already.
        if not tag.decomposed:
            tag.decompose()


def _lead_on(soup: BeautifulSoup, url: str) -> None:
    """Make addresses whole, and take away those that are none of a page."""
    for name, attribute in (("a", "href"), ("img", "src")):
        for tag in soup.find_all(name, attrs={attribute: True}):
            target = str(tag[attribute])
            if _LEADS_NOWHERE.match(target):
                del tag[attribute]
            else:
                tag[attribute] = _joined(url, target)
    for tag in soup.find_all("img", src=False):
        # Markdown has no picture without an address.
        tag.replace_with(str(tag.get("alt") or ""))


def _joined(url: str, target: str) -> str:
    try:
        return urljoin(url, target.strip())
    except ValueError:
        return target


if __name__ == "__main__":
    sys.exit(main())
