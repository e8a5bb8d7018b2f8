"""The release as a run, which the dashboard shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from audit.pipeline.ledger import Piece
from audit.pipeline.shop import Figures, PieceByPiece
from audit.store.load import load_release


@dataclass
class Load(PieceByPiece):
    """One piece: the run."""

    name = "load"

    def pieces(self) -> list[Piece]:
        """Everything in the release, and the store that it goes into."""
        if not self.shop.config.load.load:
            return []
        release = self.shop.ledger.digest(self.shop.work.release)
        inputs = {"release": release, "store": str(self.shop.settings.store_dir.resolve())}
        return [Piece(self.name, self.shop.config.release.run_id, inputs)]

    def done(self, piece: Piece) -> bool:
        """Whether the run that it became is still there: stores are disposable."""
        noted = self.shop.ledger.noted(piece).get("figures", {})
        return super().done(piece) and Path(noted.get("path", "")).is_file()

    def carry(self, piece: Piece) -> Figures:
        """Load it, as `audit load` does."""
        run = load_release(self.shop.work.release, self.shop.settings).run
        return {"run": run.key, "path": str(run.path.resolve()), "said": f"Run {run.key}: {run.report['verdict']}"}
