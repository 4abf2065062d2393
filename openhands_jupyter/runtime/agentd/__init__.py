"""agentd: the small action server that runs inside the sandbox.

It owns the shell, does the file actions, and starts, signals and watches kernels. Only the
standard library, Python 3.8 or newer, and no import from outside this folder: a sandbox mounts just
this folder, and nothing else of ours exists there. The actions (`shell`, `files`, `kernels`) know
nothing of the channel; `server` puts them behind one.

A kernel waits until `server`, `actions` and what they import are loaded. So these do without what
takes long to load: ``typing`` is there for the type checker alone.
"""

from __future__ import annotations
