"""The exercises of the course: ``check("01.1", answer)`` says whether an answer is right, or gives a hint."""

from elman.course.grading import check

__all__ = ["check"]
