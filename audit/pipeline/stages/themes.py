"""What the answers differ on, in named themes, as a part of the release."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from audit.atomic_io import write_whole
from audit.embedding.encoders import LEXICAL
from audit.pipeline.encoders import encoder_of
from audit.pipeline.ledger import Piece, code_of
from audit.pipeline.shop import Figures, PieceByPiece
from audit.themes.build import PRINCIPAL, Options, build_taxonomy
from audit.themes.phrases import by_plain_phrase
from audit.themes.taxonomy import write_taxonomy

CODE = ("themes", "embedding")


@dataclass
class Themes(PieceByPiece):
    """One piece: the taxonomy of the release's divergence topics."""

    name = "themes"

    def pieces(self) -> list[Piece]:
        """The comparisons, and how they are grouped."""
        said, release = self.shop.config.themes, self.shop.work.release
        if not said.build:
            return []
        pairs = self.shop.ledger.digest(release / "comparisons")
        inputs = {"pairs": pairs, "model": said.model, "target": said.target, "code": code_of(*CODE)}
        return [Piece(self.name, "themes.json", inputs, (release / "themes.json",))]

    def carry(self, piece: Piece) -> Figures:
        """Build it; where nothing disagrees, there are no themes, and the file says so."""
        counts, said = self._topics(), self.shop.config.themes
        if not counts:
            write_whole(piece.outputs[0], '{"themes": []}\n')
            return {"themes": 0}
        make = encoder_of(said.model, self.shop.settings)
        assert make is not None  # `none` is no choice for themes
        options = Options(target=said.target or None, layout=PRINCIPAL if said.model == LEXICAL else None)
        taxonomy, points = build_taxonomy(counts, make(list(by_plain_phrase(counts))), options, progress=self.shop.watch)
        write_taxonomy(taxonomy, points, piece.outputs[0])
        return {"themes": len(taxonomy.leaves), "topics": len(counts)}

    def _topics(self) -> Counter[str]:
        """Divergence topic -> how many pairs have it."""
        found: Counter[str] = Counter()
        for path in sorted((self.shop.work.release / "comparisons").glob("*.json")):
            pairs = json.loads(path.read_text(encoding="utf-8"))["pairs"]
            found.update(pair["divergence_topic"] for pair in pairs if (pair["divergence_topic"] or "").strip())
        return found
