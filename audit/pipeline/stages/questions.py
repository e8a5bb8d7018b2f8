"""Questions from anybody's file: checked, tagged, held against each other, as `audit questions` does it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from audit.atomic_io import write_whole
from audit.corpus.questions.importing import import_questions
from audit.corpus.questions.near_duplicates import decisions_path
from audit.corpus.questions.screening import make_screen
from audit.corpus.questions.tags import read_tag_taxonomy
from audit.pipeline.encoders import encoder_of
from audit.pipeline.ledger import Piece, code_of
from audit.pipeline.shop import Figures, PieceByPiece

CODE = ("corpus/questions", "embedding")


@dataclass
class Questions(PieceByPiece):
    """One piece: all of them."""

    name = "questions"

    def pieces(self) -> list[Piece]:
        """The file, the taxonomy and how they are looked at; the table of decisions is left, and read when it was filled in."""
        said, digest = self.shop.config.questions, self.shop.ledger.digest
        assert said.file is not None  # the reader of the config has seen to it
        taxonomy = said.taxonomy and (digest(Path(said.taxonomy)) or said.taxonomy)  # Path("") is wherever the command is given
        inputs = {
            "file": digest(said.file), "taxonomy": taxonomy, "screen": said.screen, "encoder": said.encoder,
            "code": code_of(*CODE),
        }  # fmt: skip
        return [Piece(self.name, said.file.name, inputs, (self.shop.work.questions, self._decisions))]

    @property
    def _decisions(self) -> Path:
        return self.shop.config.questions.decisions or decisions_path(self.shop.work.questions)

    def carry(self, piece: Piece) -> Figures:
        """Import them, and keep the whole report beside them."""
        said, out = self.shop.config.questions, self.shop.work.questions
        assert said.file is not None
        report = import_questions(
            said.file, out,
            decisions=self._decisions,
            taxonomy=read_tag_taxonomy(said.taxonomy) if said.taxonomy else None,
            screen=make_screen() if said.screen else None,
            encoder_of=encoder_of(said.encoder, self.shop.settings),
            max_bytes=self.shop.settings.max_object_bytes, progress=self.shop.watch,
        )  # fmt: skip
        told = out.with_name("questions.report.json")
        write_whole(told, json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n")
        return {
            "questions": len(report.questions),
            "findings": report.quarantined,
            "said": f"{report.verdict()} {'' if report.clean else f'See {told}.'}".strip(),
        }
