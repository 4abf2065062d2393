"""Which browser is started in a sandbox, and how; sent there with `pilot`."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from .waiting import Failed

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from playwright.async_api import Browser, Playwright

CHROMIUM = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
"""What it is called, the one that starts soonest first."""

_NOT_THROUGH_PROXY = "<-loopback>;localhost;127.0.0.1;[::1]"
"""Without the first, what is beside the machine would be sought without the proxy."""

ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--renderer-process-limit=4",
    # Megabytes of what the scripts of a page keep.
    "--js-flags=--max-old-space-size=512",
)


def find_chromium() -> str | None:
    """The program of the browser that is installed here; None if there is none."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


def driver() -> AbstractAsyncContextManager[Playwright]:
    """What drives it, once it is entered.

    Raises
    ------
    Failed
        When that is not installed.
    """
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        raise Failed(
            "no_playwright",
            "Playwright, which drives the browser, is not installed.",
            "It comes with the extra: pip install 'openhands-jupyter[browser]'. Where the sandbox "
            "is a container, it has to be in the image.",
        ) from None
    return async_playwright()


async def started(playwright: Playwright) -> Browser:
    """The browser, with the way to the network that the environment names.

    Raises
    ------
    Failed
        When there is none, or it does not start.
    """
    from playwright.async_api import Error

    chromium = find_chromium()
    if chromium is None:
        raise Failed(
            "no_chromium",
            "No Chromium is installed where the sandbox sees it.",
            "Install it, with 'apt install chromium' on Debian.",
        )
    arguments = list(ARGUMENTS)
    if proxy := os.environ.get("http_proxy"):
        arguments.append(f"--proxy-server={proxy}")
        arguments.append(f"--proxy-bypass-list={_NOT_THROUGH_PROXY}")
    try:
        return await playwright.chromium.launch(executable_path=chromium, args=arguments)
    except Error:
        raise Failed(
            "no_start",
            f"The browser, {chromium}, did not start in the sandbox.",
            "Install another one, with 'apt install chromium-headless-shell' on Debian.",
        ) from None
