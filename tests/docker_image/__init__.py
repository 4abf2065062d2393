"""A Docker daemon and an image for the tests, made of what is on this machine."""

from __future__ import annotations

from .build import IMAGE, build_image, load_image
from .daemon import DaemonUnavailable, docker_daemon

__all__ = ["IMAGE", "DaemonUnavailable", "build_image", "docker_daemon", "load_image"]
