"""Exercises with automatic grading: reach a state, break a claim, repair a design, prove one.

from specs.grading import exercises, grade

grade(Path("my-answer.story"))      # Grade: right, or why not, with the counterexample
"""

from specs.grading.answer import ExerciseAnswer, read_answer
from specs.grading.exercise import FOLDER, Exercise, ExerciseError, exercise, exercises
from specs.grading.grade import Grade, grade
from specs.grading.own_process import LIMIT_S, grade_in_own_process

__all__ = [
    "FOLDER",
    "LIMIT_S",
    "ExerciseAnswer",
    "Exercise",
    "ExerciseError",
    "Grade",
    "exercise",
    "exercises",
    "grade",
    "grade_in_own_process",
    "read_answer",
]
