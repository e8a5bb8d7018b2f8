"""Questions before they are asked: read, screened for identifying details, held against a taxonomy and against each other."""

from audit.corpus.questions.decisions import DECISIONS, default_path
from audit.corpus.questions.likeness import THRESHOLD
from audit.corpus.questions.report import Report
from audit.corpus.questions.run import import_questions
from audit.corpus.questions.screening import Screen, screen
from audit.corpus.questions.taxonomy import Taxonomy, read_taxonomy

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
