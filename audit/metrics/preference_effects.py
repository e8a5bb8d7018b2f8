"""Whether an answer is preferred for its position or length, whichever system wrote it."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd

from audit.evaluation.side_effects import side_effect
from audit.metrics import metric
from audit.metrics._preferences import COMPARISONS, QUESTIONS_RESAMPLED, RATER_KIND, comparisons, of_kind
from audit.store.connection import Connection
from audit.tables import Column, TableSpec
from audit.vocabulary import RATER_KINDS

EFFECTS = {"position": "shown_first", "length": "longer"}
"""Effect -> the column with the side it favours."""
TABLE = TableSpec(
    "Effect of position and length on preferences",
    (
        Column.text("effect", "Favoured answer", words={"position": "the one shown first", "length": "the longer one"}),
        RATER_KIND,
        Column.count("comparisons", "Decided", "comparisons"),
        Column.count("won", "Favoured answer preferred", "comparisons"),
        Column.share("share", "Share of decided ones"),
        Column.count("informative", "Of couples compared both ways", "comparisons"),
        Column.share("adjusted", "Apart from whose answer it is", "share"),
        Column.decimal("p_value", "p value"),
    ),
    (
        "Apart from whose answer it is: in each couple of systems, the mean of how often the favoured answer is preferred when "
        "it is the one system's and when it is the other's; 0.5: no effect. A better system that is often shown first, or writes "
        "longer answers, does not change it. Couples in which the same system was always favoured, or always "
        "preferred, carry no information and are left out.",
        "p value: exact and two-sided, given how often each system was preferred and favoured (Gart 1970).",
        "Ties and comparisons in which both are bad are left out; so are those of unknown order, or of equal length.",
        QUESTIONS_RESAMPLED,
    ),
)
GLOSSARY = {
    "position effect": "An answer is preferred because it is shown first. Head-to-head studies show either side first at random.",
    "preference for length": "An answer is preferred because it is longer, whatever it says.",
}
COLUMNS = (
    "effect", "rater_kind", "comparisons", "won", "share", "share_low", "share_high", "informative", "adjusted", "adjusted_low",
    "adjusted_high", "p_value",
)  # fmt: skip


@metric(sql=COMPARISONS, table=TABLE, glossary=GLOSSARY)
def preference_effects(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """Whether answers are preferred because they are shown first, or because they are longer.

    question_type, organ  count only these questions; None: all

    One row per effect and kind of rater that compared anything:
        effect                                   str, position or length (in words)
        rater_kind                               str, human or judge
        comparisons, won                         int, decided comparisons with a favoured answer; those in which it is preferred
        share, share_low, share_high             float in [0, 1], won / comparisons
        informative                              int, comparisons of couples of which either system was favoured and preferred
        adjusted, adjusted_low, adjusted_high    float in [0, 1], 0.5 without an effect; see audit.evaluation.side_effects
        p_value                                  float in [0, 1]
    Shares have 95 % intervals with questions resampled; NaN where unknown.
    """
    table = comparisons(con, question_type, organ)
    rows = [
        {"effect": effect, "rater_kind": kind.value, **asdict(side_effect(own, column))}
        for effect, column in EFFECTS.items()
        for kind in RATER_KINDS
        if len(own := of_kind(table, kind))
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))
