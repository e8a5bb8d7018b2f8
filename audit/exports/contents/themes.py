"""What the sources disagree about, where the run has themes."""

from __future__ import annotations

from audit.charts.treemap import SEVERITY, theme_treemap
from audit.exports.contents.columns import RESAMPLED, counted, share
from audit.exports.material import Material
from audit.exports.record import Column, Picture, Table
from audit.metrics.themes import tops
from audit.themes.taxonomy import Taxonomy


def themes(material: Material) -> Table:
    """Every theme, the gravest first, with what belongs to none."""
    frame, taxonomy = material.frame("themes"), material.themes
    return Table(
        "themes", material.say("What {handbooks} disagree about, the gravest first"), frame,
        (
            counted("rank", "Rank"), Column("name", "Theme"), Column("parent", "Part of"), counted("topics", "Topics"),
            counted("questions", "Questions"), counted("pairs", "Pairs"), counted("disagreeing", "Disagreeing", "pairs"),
            share("share", "Share", "of disagreement"), share("r_div", "Disagreement", "of its pairs"),
            share("severity", "Severity", "per pair"),
        ),
        (
            "A theme groups divergence topics: the judge's few words on what two answers differ about. Disagreements whose topic "
            "belongs to no theme, or was not stated, have rows of their own.",
            "Rank by burden: 1, 2 or 3 for each disagreeing pair by its clinical significance. Severity: burden per pair.",
            f"Taxonomy: {_identity(taxonomy)}.", material.say(RESAMPLED),
        ), f"{len(taxonomy.leaves):,} themes",
    )  # fmt: skip


def _identity(taxonomy: Taxonomy) -> str:
    return f"as it was built, without curation (SHA-256 {taxonomy.sha256})" if taxonomy.sha256 else "that of the release"


def areas(material: Material) -> list[Picture]:
    """Themes as areas."""
    frame, taxonomy = material.frame("themes"), material.themes
    inside = frame.assign(top=frame["theme_id"].map(tops(taxonomy)).fillna(frame["theme_id"]))
    figure = theme_treemap(inside, material.frame("themes", level="parent"), SEVERITY)
    return [Picture("themes", "Themes: area is the number of pairs, colour the severity per pair", figure)]
