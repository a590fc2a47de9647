"""The running commit of the project: a seed and a commit together reproduce a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

UNKNOWN = "unknown (not a git checkout)"


def commit_of(path: Path) -> str:
    """The commit of the checkout that a file is in, with ``+changes`` where it differs from it."""
    folder = path.resolve().parent

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()

    try:
        # A file that git does not know lies in somebody else's checkout, as an installed one does.
        git("ls-files", "--error-unmatch", path.name)
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
