"""A server extension of the tests: does in the server what a test in another process asks for."""

from __future__ import annotations

import json
import traceback
from pathlib import Path
from typing import Any

import msgspec
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from notebook_contract import CASES, World
from notebook_runs import CASES as RUN_CASES
from notebook_runs import RunWorld
from tornado import web

from openhands_jupyter.errors import OpenHandsError
from openhands_jupyter.notebooks.changes import Change
from openhands_jupyter.notebooks.delivery.notebooks import Notebooks
from openhands_jupyter.notebooks.revisions import cell_rev
from openhands_jupyter.notebooks.running.runs import CellToRun, Run


class DoorHandler(APIHandler):
    """What can be done with a notebook of the server."""

    @web.authenticated
    async def post(self) -> None:
        """Do it, and answer with its result or its error."""
        body = json.loads(self.request.body)
        try:
            answer = await self._do(**body)
        except OpenHandsError as error:
            answer = {"error": error.code}
        self.finish(msgspec.json.encode(answer))

    async def _do(
        self,
        what: str,
        path: str = "",
        change: object = None,
        case: str = "",
        whole: list[str] | None = None,
        **tabs: float,
    ) -> Any:
        notebooks: Notebooks = self.settings["openhands"].notebooks
        match what:
            case "opened":
                return notebooks.open_in_browser()
            case "show":
                return await notebooks.tabs.show(path)
            case "patience":
                for name, seconds in tabs.items():
                    setattr(notebooks.tabs, name, seconds)
                return None
            case "run contract":
                world = World(notebooks, path, Path(self.settings["server_root_dir"], path))
                try:
                    runs = self.settings["openhands"].runs
                    await RUN_CASES[case].run(RunWorld(world, runs, self.kernel_manager))
                except Exception:
                    return traceback.format_exc()
                return None
            case "run":
                return await self._run(path)
            case "runs":
                return _told(self.settings["openhands"].runs.get(case))
            case "contract":
                world = World(notebooks, path, Path(self.settings["server_root_dir"], path))
                try:
                    await CASES[case].run(world)
                except Exception:
                    return traceback.format_exc()
                return None
        document = await notebooks.open(path)
        match what:
            case "read":
                return await document.read(whole)
            case "change":
                return await document.change(msgspec.convert(change, Change))
            case "save":
                return await document.save()
        raise ValueError(what)

    async def _run(self, path: str) -> Any:
        """Begin to run all cells."""
        services = self.settings["openhands"]
        cells = (await (await services.notebooks.open(path)).read()).cells
        wanted = [CellToRun(id=cell["id"], rev=cell_rev(cell)) for cell in cells]
        return _told(await services.runs.start(path, wanted))


def _told(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "state": run.state,
        "problem": run.problem,
        "cells": [[cell.status, cell.written] for cell in run.cells],
        "outputs": [cell.outputs for cell in run.cells],
    }


def _load_jupyter_server_extension(serverapp: Any) -> None:
    address = url_path_join(serverapp.base_url, "openhands-test/notebooks")
    serverapp.web_app.add_handlers(".*$", [(address, DoorHandler)])
