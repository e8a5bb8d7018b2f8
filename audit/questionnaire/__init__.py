"""Questions before they are asked: read, screened for identifying details, held against a taxonomy and against each other."""

from audit.questionnaire.decisions import DECISIONS, default_path
from audit.questionnaire.likeness import THRESHOLD
from audit.questionnaire.report import Report
from audit.questionnaire.run import import_questions
from audit.questionnaire.screening import Screen, screen
from audit.questionnaire.taxonomy import Taxonomy, read_taxonomy

__all__ = [
    "DECISIONS",
    "THRESHOLD",
    "Report",
    "Screen",
    "Taxonomy",
    "default_path",
    "import_questions",
    "read_taxonomy",
    "screen",
]
