"""Every pair of answers judged, as `audit judge` does it, and everything so far as a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from audit.judging.corpus import Corpus
from audit.judging.verdict_sources import JudgingSummary
from audit.pipeline.config import MODEL
from audit.pipeline.corpus import corpus_of, run_of
from audit.pipeline.ledger import Piece, code_of, digest_of
from audit.pipeline.meeting import check_met, unpaired
from audit.pipeline.shop import Figures, PieceByPiece, Shop

CODE = ("judging", "release", "text", "pipeline/corpus.py", "pipeline/meeting.py")
FILES = ("manifest.json", "handbooks.jsonl", "questions.jsonl", "answers.jsonl", "sections.jsonl", "comparisons")
Judge = Callable[[Shop, Corpus], JudgingSummary]
"""Judges a corpus and writes the release into the shop's work folder."""


@dataclass
class Judging(PieceByPiece):
    """One piece: the release. The replies of a model stand in a journal, so that none is asked for twice."""

    judge: Judge
    generator: str
    name = "judge"

    def pieces(self) -> list[Piece]:
        """All answers, questions, texts and trials; who judges, and what the release says of itself."""
        shop = self.shop
        said, compared = shop.config.judge, bool(shop.config.retrieval.compare)
        files = [work for book in shop.present for work in (shop.work.answers(book.handbook_id), book.document)]
        files += [shop.work.trials(book.handbook_id) for book in shop.present if compared]
        digests = [shop.ledger.digest(path) for path in files]
        inputs = {
            "files": None if None in digests else digest_of([[path.name for path in files], digests]),
            "questions": digest_of(shop.questions()) if shop.work.questions.is_file() else None,
            "run": run_of(shop, self.generator), "judge": {**asdict(said), "url": "", "templates": ""},
            "templates": shop.ledger.digest(said.templates) if said.templates else "",
            "model": shop.settings.judge_model if said.judge == MODEL else "", "code": code_of(*CODE),
        }  # fmt: skip
        outputs = [shop.work.release / name for name in (*FILES, *(["trials.jsonl"] if compared else []))]
        return [Piece(self.name, "release", inputs, tuple(outputs))]

    def carry(self, piece: Piece) -> Figures:
        """Judge, and write the release."""
        check_met(self.shop, 2)
        corpus = corpus_of(self.shop, self.generator)
        nobody, said = unpaired(corpus.items())
        figures = told(self.judge(self.shop, corpus))
        return {**figures, "findings": figures["findings"] + nobody, "said": f"{figures['said']} {said}".strip()}


def told(summary: JudgingSummary) -> dict[str, Any]:
    """What became of the pairs, in figures; `findings` are those that a model was to judge and has not."""
    unscored = summary.unscored.total()
    return {
        "judged": summary.judged, "prescreened": summary.prescreened, "unscored": unscored, "not_asked": summary.not_asked,
        "findings": unscored + summary.not_asked, "said": summary.sentence,
    }  # fmt: skip
