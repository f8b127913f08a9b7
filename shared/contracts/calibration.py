"""Calibrating from which evidence on a question is answered: request-reply with the chat service."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shared.contracts.message import Message, Record


class CalibrationQuestion(Record):
    """A question, and whether the vault answers it."""

    question: str = Field(min_length=1, max_length=4000, description="1 to 4,000 characters.")
    answerable: bool


class CalibrateRequest(Message):
    """Asks all questions and records, for the vault and its space, the threshold that tells them apart best.

    On `citebus.v1.calibrate.<vault>`. Thresholds that were recorded before are replaced.
    """

    type: Literal["citebus.calibrate.request.v1"] = "citebus.calibrate.request.v1"
    questions: tuple[CalibrationQuestion, ...] = Field(min_length=2, max_length=500)
    profile: str | None = Field(default=None, description="Name of a retrieval profile; null: the default.")
    record: bool = Field(default=True, description="False: only tell what would be recorded.")
    deadline_ms: int = Field(default=120_000, ge=1_000, le=600_000, description="For all questions.")


class Calibration(Record):
    """One threshold, and how well it tells the questions apart. Figures are of refusal, 0 to 1."""

    measure: str = Field(description="What evidence was measured with: the name of a model, or `words`.")
    threshold: float = Field(ge=0, le=1, description="Evidence below it is refused.")
    questions: int = Field(ge=2, description="Those that were judged by this measure.")
    answerable: int = Field(ge=1)
    precision: float = Field(ge=0, le=1, description="Share of the refused questions that have no answer.")
    recall: float = Field(ge=0, le=1, description="Share of the questions without answer that are refused.")
    f1: float = Field(ge=0, le=1)
    f1_by_default: float = Field(ge=0, le=1, description="What the built-in threshold would have.")


class CalibrateReply(Message):
    """What was found, one entry per measure; a measure that judged only one kind of question has none."""

    type: Literal["citebus.calibrate.reply.v1"] = "citebus.calibrate.reply.v1"
    space: str = Field(description="Embedding space that the thresholds hold for.")
    calibrations: tuple[Calibration, ...]
    recorded: bool
