"""What one handbook answers by organ or topic, as HTML bars beside its peers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from audit.terms import display_name

CSS = Path(__file__).with_name("profile.css")


def profile_rows(answered: pd.DataFrame) -> list[tuple[str, str, float | None, float | None]]:
    """Name, count in words, the share that is answered and that of its peers; no share where nothing was asked."""
    return [
        (
            display_name(row["name"]), f"{row['answered']:,} of {row['asked']:,}" if row["asked"] else "not asked",
            row["share"] if row["asked"] else None, None if pd.isna(row["peers_share"]) else row["peers_share"],
        )
        for row in answered.to_dict("records")
    ]  # fmt: skip
