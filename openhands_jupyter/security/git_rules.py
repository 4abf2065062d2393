"""What a Git command would do."""

from __future__ import annotations

from . import commands as known
from .bash_words import Command, Word
from .scene import Scene
from .wordlist import name_set

_VALUED = name_set("-C -c --git-dir --work-tree --namespace --exec-path --config-env")


def split_git(words: list[Word]) -> tuple[list[Word], str, list[str]]:
    """The global options, the subcommand and the rest of a Git command."""
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in _VALUED else 1
    action = words[index].text if index < len(words) else ""
    return words[1:index], action, [word.text for word in words[index + 1 :]]


def check_git(scene: Scene, name: str, command: Command) -> None:
    """Note what a Git command would do."""
    before, action, rest = split_git(command.words)
    if any(word.text in ("-c", "--config-env", "--exec-path") for word in before):
        scene.add("high", "Runs Git with a setting of its own, which may run other programs")
    if not action:
        return
    index = len(before) + 1
    if not command.words[index].literal:
        scene.add("high", "The command name is computed, so it cannot be told what runs", action)
    if action == "config" and not _reads_config(rest):
        scene.add("high", "Changes the Git configuration, which your own Git obeys later")
    if action in known.GIT_DISCARDS and not _harmless(action, rest):
        scene.add("high", known.GIT_DISCARDS[action], "git " + " ".join([action, *rest]))
    _check_losses(scene, action, rest)
    remote = action in known.GIT_NETWORK or (action == "remote" and rest[:1] == ["update"])
    if remote and not (action in ("submodule", "lfs") and rest[:1] == ["status"]):
        scene.network("git " + action)
    if action in known.GIT_RECORDS and not (action == "tag" and not rest):
        scene.add("medium", "Changes the Git history by {}", "git " + action)
    if action == "bisect" and rest[:1] == ["run"]:
        _run(scene, command.words[index + 2 :])
    if action == "submodule" and rest[:1] == ["foreach"]:
        scene.read("shell", " ".join(rest[1:]))


def _run(scene: Scene, words: list[Word]) -> None:
    from .code_rules import run_words

    run_words(scene, words)


def _check_losses(scene: Scene, action: str, rest: list[str]) -> None:
    given = set(rest)
    short = {letter for text in rest if text[:1] == "-" and text[:2] != "--" for letter in text}
    forced = "f" in short or any(text.startswith("--force") for text in rest)
    discards = "Discards changes that are not committed"
    if action == "reset" and given & {"--hard", "--merge", "--keep"}:
        scene.add("high", discards, "git reset --hard")
    if action == "checkout" and (forced or "--" in given or "." in given):
        scene.add("high", discards, "git " + " ".join([action, *rest]))
    if action == "switch" and (forced or "--discard-changes" in given):
        scene.add("high", discards, "git switch")
    if action == "stash" and given & {"drop", "clear", "pop"}:
        scene.add("high", "Removes stashed changes", "git " + " ".join([action, *rest[:1]]))
    rewritten = any(text.startswith(("+", ":")) for text in rest) or "--mirror" in given
    if action == "push" and (forced or rewritten or given & {"--delete", "-d", "--prune"}):
        scene.add("high", "Rewrites the Git history of another place", "git push")
    if action in ("branch", "tag") and ({"D", "d"} & short or forced or "--delete" in given):
        scene.add("high", "Deletes branches or tags", "git " + " ".join([action, *rest]))
    if action == "commit" and "--amend" in given:
        scene.add("high", "Rewrites the Git history", "git commit --amend")
    if action == "worktree" and rest[:1] in (["remove"], ["prune"]):
        scene.add("high", "Deletes files with Git", "git worktree " + rest[0])
    if action == "reflog" and rest[:1] in (["expire"], ["delete"]):
        scene.add("high", "Removes old Git objects", "git reflog " + rest[0])
    if action == "mv" and forced:
        scene.add("high", "Replaces files", "git mv")


def _harmless(action: str, rest: list[str]) -> bool:
    if action == "restore":
        return "--staged" in rest and "--worktree" not in rest and "-W" not in rest
    if action == "rm":
        return "--cached" in rest
    return action == "clean" and ("-n" in rest or "--dry-run" in rest)


def _reads_config(rest: list[str]) -> bool:
    reading = {
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "list",
        "get",
        "--get-urlmatch",
    }
    return bool(reading & set(rest)) and not {"--add", "--unset", "--edit", "-e", "set"} & set(rest)
