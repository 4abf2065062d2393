"""Leave in the workspace what programs outside the sandbox execute later."""

import os
import shutil


def attack(world, argument):
    """Change what is there, or make what is not there yet."""
    what, _, path = argument.partition(":")
    return globals()[what](path)


def change(path):
    with open(path, "a", encoding="utf-8") as file:
        file.write("trap\n")
    return f"{path} was changed"


def create(path):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write("trap\n")
    os.chmod(path, 0o755)
    return f"{path} was created"


def replace_folder(path):
    """Put another folder in the place of the one that holds what is protected."""
    os.rename(path, f"{path}-old")
    shutil.copytree(f"{path}-old", path)
    return f"{path} was replaced"
