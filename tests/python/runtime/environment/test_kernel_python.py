"""The kernel and the shell in a Python of the person's, in a real sandbox."""

from __future__ import annotations

import os
import shutil

import pytest

from openhands_jupyter.events import ErrorObservation, IPythonRunCellAction
from openhands_jupyter.runtime import SandboxRuntime
from openhands_jupyter.runtime.environment import EnvironmentSettings

pytestmark = pytest.mark.sandbox

WHERE = "import sys, only_here; print(only_here.name, sys.version_info[0])"


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def isolation(request):
    if request.param == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    return request.param


def chosen(python):
    return {"environment": EnvironmentSettings(python=str(python))}


async def test_kernel_and_shell_have_the_chosen_environment(bench, pythons):
    folder = pythons.environment()
    async with bench(**chosen(folder)) as b:
        assert (await b.cell(WHERE)).outputs[0].text == "mine 3\n"
        assert (await b.runtime.start()).python == f"Python {pythons.version} in {folder}"
        ran = await b.sh(f"python -c '{WHERE}'; python3 -c '{WHERE}'")
        assert ran.content == "mine 3\nmine 3\n"
        assert not b.runtime._sandbox.isolation_in_force.notice.startswith("There is no Python")


async def test_a_conda_environment_works_as_well(bench, pythons):
    folder = pythons.conda()
    async with bench(**chosen(folder)) as b:
        assert (await b.cell(WHERE)).outputs[0].text == "conda 3\n"
        ran = await b.sh(f"python -c '{WHERE}'; echo $CONDA_PREFIX")
        assert ran.content == f"conda 3\n{folder}\n"


async def test_an_environment_by_the_name_of_its_kernelspec(bench, pythons):
    folder = pythons.environment()
    pythons.kernelspec("mine", [str(folder / "bin/python"), "-m", "ipykernel_launcher"])
    async with bench(**chosen("mine")) as b:
        assert (await b.cell(WHERE)).outputs[0].text == "mine 3\n"


async def test_the_environment_cannot_be_changed(bench, pythons, isolation):
    if isolation == "none":
        pytest.skip("nothing is protected without isolation")
    folder = pythons.environment()
    async with bench(**chosen(folder)) as b:
        ran = await b.sh(f"touch {folder}/new {folder}/lib/new; rm {folder}/pyvenv.cfg")
        assert ran.exit_code != 0
    assert not (folder / "new").exists()
    assert (folder / "pyvenv.cfg").exists()


async def failed(bench, python):
    """What a cell says, while the shell works on."""
    async with bench(**chosen(python)) as b:
        observation = await b.act(IPythonRunCellAction(code="1"))
        assert (await b.sh("echo fine")).content == "fine\n"
        assert isinstance(observation, ErrorObservation), observation
        return observation


async def test_a_broken_link_is_told_and_leaves_the_shell(bench, pythons):
    folder = pythons.environment()
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to("/opt/gone/bin/python3")
    observation = await failed(bench, folder)
    assert observation.code == "python_broken"
    assert "/opt/gone/bin/python3, which does not exist" in observation.message


async def test_a_missing_ipykernel_is_told_with_the_command_that_mends_it(bench, pythons):
    folder = pythons.environment(packages=False)
    observation = await failed(bench, folder)
    assert observation.code == "kernel_failed"
    assert "has no ipykernel" in observation.message
    assert f"'{folder}/bin/python -m pip install ipykernel'" in observation.hint


async def test_a_python_that_crashes_at_its_start_is_told(bench, pythons):
    folder = pythons.environment()
    (pythons.site(folder) / "crash.pth").write_text(
        "import os; os.write(2, b'the disk is on fire\\n'); os._exit(3)\n"
    )
    observation = await failed(bench, folder)
    assert "does not work: the disk is on fire (exit code 3)" in observation.message


async def test_a_kernel_that_crashes_at_import_is_told(bench, pythons):
    folder = pythons.environment(packages=False)
    package = pythons.site(folder) / "ipykernel"
    package.mkdir()
    (package / "__init__.py").touch()
    (pythons.site(folder) / "ipykernel_launcher.py").write_text("raise ImportError('no zmq')\n")
    observation = await failed(bench, folder)
    assert "did not start: ImportError: no zmq" in observation.message


@pytest.mark.docker
async def test_a_container_has_the_python_of_its_image(
    workspace, docker_settings, docker_host, monkeypatch, pythons
):
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    os.chown(workspace, 1000, 1000)
    folder = pythons.environment()
    runtime = SandboxRuntime(workspace, "docker", docker=docker_settings, **chosen(folder))
    try:
        found = await runtime.start()
        assert "is not used: the Docker image" in found.notice
        cell = await runtime.run_action(IPythonRunCellAction(code="print(2)"), print)
        assert cell.outputs[0].text == "2\n"
    finally:
        await runtime.close()
