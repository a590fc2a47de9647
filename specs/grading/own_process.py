"""Grades an answer in a separate process, because a learner's program may never end or may fail.

The program's output goes to standard error, so that it cannot be mistaken for a verdict.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from model.language import ProtocolError
from specs.grading.answer import read_answer
from specs.grading.exercise import ExerciseError
from specs.grading.grade import Grade, grade
from specs.verdict import Verdict

Report = Callable[[str], None]

LIMIT_S = 60.0
"""An answer that takes longer is cut short; each exercise's own takes under 10 s."""


def grade_in_own_process(
    path: Path, report: Report = lambda line: None, limit_s: float = LIMIT_S
) -> Grade:
    """Like `grade`, in a process that is killed after `limit_s` seconds: then unknown.

    Raises ExerciseError as `grade` does, and for a program that ends its process; also OSError.
    """
    answer = read_answer(path)
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    child = fork.Process(target=_judge, args=(path, report, there), daemon=True)
    child.start()
    there.close()
    try:
        if not here.poll(limit_s):
            return Grade(answer, Verdict.UNKNOWN, [f"no end after {limit_s:g} s (--limit)"])
        said: Grade | Exception = here.recv()
    except EOFError as error:
        child.join()
        raise ExerciseError(
            f"{path}:1: the answer ended its own process (exit code {child.exitcode}) before it "
            "could be judged; an answer only declares"
        ) from error
    finally:
        child.kill()
        child.join()
        here.close()
    if isinstance(said, Exception):
        raise said
    return said


def _judge(path: Path, report: Report, there: Connection) -> None:
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    said: Grade | Exception
    try:
        done = grade(path, report)
        plain = replace(done.answer, exercise=replace(done.answer.exercise))  # nothing cached
        said = replace(done, answer=plain)
    except ProtocolError as error:
        said = ExerciseError(str(error))
    except Exception:
        traceback.print_exc()  # a defect of ours
        raise
    there.send(said)
