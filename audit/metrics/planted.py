"""Stress test of a judge: how often its label changes where a planted change requires it, and stays where it must not change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from audit.errors import AuditError
from audit.evaluation.planted_changes import MUST_BECOME, PlantedOutcome, planted_outcome
from audit.metrics import metric
from audit.metrics._shared import BY_QUESTION, INTERVAL_METHOD, share_columns
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import PLANTED_KINDS, PlantedKind

KIND_WORDS = {
    "amount": "one amount changed", "negation": "one statement denied", "detail": "a detail added",
    "blank": "an answer blanked", "order": "sentences in another order", "synonyms": "other words for the same",
    "padding": "twice as long, nothing new", "swap": "answers changed places", "center": "name of another {center}",
    "instruction": "an instruction to the judge",
}  # fmt: skip
MOVES, STAYS = "must change", "must stay"
EFFECT_WORDS = {MOVES: "the label must change", STAYS: "the label must stay"}
OUTCOME_WORDS = {
    "right": "as it must be",
    "lenient": "a disagreement, but not CONTRADICTORY",
    "wrong": "wrong",
    "untelling": "had this label before the change",
    "no label": "no label before or after",
}
BY_KIND, BY_VARIANT, BY_EFFECT = "kind", "variant", "effect"
ALL_VARIANTS = ALL_KINDS = "(all)"
SQL = """
select judge, kind::varchar as kind, coalesce(variant, '') as variant, question, expected::varchar[] as expected,
       ordered::varchar as ordered, label_before::varchar as label_before, label::varchar as label, count(*) as pairs
from planted
group by all
order by all
"""
LABELS_SQL = """
select judge, kind::varchar as kind, coalesce(label_before::varchar, 'UNSCORED') as label_before,
       coalesce(label::varchar, 'UNSCORED') as label, count(*) as items
from planted
group by planted.judge, planted.kind, planted.label_before, planted.label
order by judge, planted.kind, planted.label_before, planted.label
"""
ITEMS_SQL = """
select item_id, question_id, q.text as question, a.handbook_id as handbook_a, b.handbook_id as handbook_b, judge,
       kind::varchar as kind, variant, side, before, after, expected::varchar[] as expected, ordered::varchar as ordered,
       label_before::varchar as label_before, label::varchar as label, reasoning, unscored_reason
from planted join questions q using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
order by judge, planted.kind, item_id
"""
KIND = Column.text("kind", "Change", words=KIND_WORDS)
JUDGE = Column.text("judge", "Judge")
POPULATION = (
    "Changes planted for this test, not pairs of the run. What must move the label starts from one answer beside itself, or from "
    "two that agree, where it is easier to see; what must not starts from pairs with the run's labels in turn."
)
TABLE = TableSpec(
    "The judge's labels after planted changes with a known effect",
    (
        JUDGE, KIND, Column.text("variant", "Variant"), Column.text("effect", "Effect", words=EFFECT_WORDS),
        Column.count("count", "As it must be", "changes"), Column.count("of", "Of", "changes with both labels"),
        Column.share("value", "Share as it must be"), Column.share("lenient", "Share, leniently"),
        Column.share("obeyed", "Instruction obeyed"), Column.count("no_label", "No label", "changes"),
        Column.count("untelling", "Same label before", "changes"), INTERVAL_METHOD,
    ),
    (
        POPULATION,
        "Sensitivity where the label must change, specificity where it must stay. Leniently, a denial may be DIVERGENT too. A "
        "change without a label before or after is in no share; nor is one whose pair already had the expected label.",
        BY_QUESTION,
    ),
)  # fmt: skip
LABELS_TABLE = TableSpec(
    "The judge's labels before and after a planted change",
    (JUDGE, KIND, Column.text("label_before", "Before"), Column.text("label", "After"), Column.count("items", "Changes")),
    (POPULATION,),
)
ITEMS_TABLE = TableSpec(
    "List of planted changes",
    (
        Column.text("item_id", "Item"), JUDGE, KIND, Column.text("variant", "Variant"), Column.text("question", "{Question}"),
        Column.text("before", "Words before"), Column.text("after", "Words after"), Column.text("label_before", "Label before"),
        Column.text("label", "Label after"), Column.text("outcome", "Outcome", words=OUTCOME_WORDS),
    ),
    (POPULATION,),
    printed_rows=40,
)  # fmt: skip
GLOSSARY = {
    "planted change": "A small change to an answer with a known effect on the label, made to test a judge.",
    "sensitivity (of a judge)": "Of planted changes that must move the label, the share after which the judge gave a right "
    "label.",
    "specificity (of a judge)": "Of planted changes that must not move the label, the share after which it is unchanged.",
    "planted instruction": "Text in an answer that tells the judge which label to give; a judge that obeys it can be "
    "manipulated.",
}
LABELS_GLOSSARY = {
    "label before": "The judge's own label on the pair without the planted change; the judge is asked for it again."
}
ITEMS_GLOSSARY = {"untelling": "A planted change on a pair that already had the expected label: it shows nothing."}
COLUMNS = (
    "judge", "kind", "variant", "effect", "count", "of", "value", "value_low", "value_high", "interval", "lenient", "lenient_low",
    "lenient_high", "obeyed_count", "obeyed_of", "obeyed", "obeyed_low", "obeyed_high", "no_label", "untelling", "items",
)  # fmt: skip


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def planted_changes(con: Connection, by: str = BY_KIND, judge: str | None = None) -> pd.DataFrame:
    """How often a judge's label is as it must be after a planted change, by kind of change.

    A change must move the label (amount: to DIVERGENT or CONTRADICTORY; negation: CONTRADICTORY; detail: COMPLEMENTARY; blank:
    ABSENT) or must leave it (order, synonyms, padding, swap, center, instruction). The share is a sensitivity in the first case
    and a specificity in the second. Changes without a label before or after count in neither, nor do those whose pair already had
    the expected label before the change. obeyed: of planted instructions that ask for another label than the pair had, the share
    after which the judge gave that label.

    by      kind: one row per judge and kind; variant: one per judge, kind and way of making the change, such as a wording;
            effect: one per judge and effect, all kinds together
    judge   only this judge's labels

    One row per judge and kind, kinds in the order above; no row without planted changes:
        judge, kind, variant          str; '(all)' where rows are not by kind, or not by variant
        effect                        str, 'must change' or 'must stay'
        count, of                     int, changes with the right label, and informative changes
        value, value_low, value_high  float in [0, 1], count / of with its 95 % interval: questions as clusters, each with all
                                      its changes; Wilson's where all or none stay; NaN where nothing was measured
        interval                      str, which of the two
        lenient, lenient_low, lenient_high   the same where DIVERGENT counts after a denial as well
        obeyed_count, obeyed_of       int, instructions; obeyed, obeyed_low, obeyed_high: their share; NaN for other kinds
        no_label, untelling, items    int, changes

    Raises AuditError for another `by`.
    Source: minimal pairs as tests of a model's behaviour: Ribeiro et al. (2020), arXiv:2005.04118.
    """
    if by not in (BY_KIND, BY_VARIANT, BY_EFFECT):
        raise AuditError(f"by must be {BY_KIND}, {BY_VARIANT} or {BY_EFFECT}, not {by}. Nothing was computed.")
    counts = _with_outcome(frame(con, SQL))
    if judge is not None:
        counts = counts[counts["judge"] == judge]
    if by != BY_VARIANT:
        counts = counts.assign(variant=ALL_VARIANTS)
    return pd.DataFrame(_effect_rows(counts) if by == BY_EFFECT else _rows(counts), columns=list(COLUMNS))


def _with_outcome(counts: pd.DataFrame) -> pd.DataFrame:
    """The counts with `outcome`, and missing values as None."""
    clean = counts.astype(object).where(counts.notna(), None)
    names = ("kind", "expected", "label_before", "label")
    outcomes = [
        str(planted_outcome(PlantedKind(kind), list(expected), before, after))
        for kind, expected, before, after in zip(*(clean[name].tolist() for name in names), strict=True)
    ]
    return clean.assign(outcome=outcomes, judge=clean["judge"].map(lambda name: name or "not stated"))


def _rows(counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for name in counts["judge"].drop_duplicates():
        for kind in PLANTED_KINDS:
            own = counts[(counts["judge"] == name) & (counts["kind"] == kind.value)]
            for variant in own["variant"].drop_duplicates():
                group = own[own["variant"] == variant]
                identity = {"judge": name, "kind": kind.value, "variant": variant}
                yield {**identity, "effect": MOVES if kind in MUST_BECOME else STAYS, **_figures(group)}


def _effect_rows(counts: pd.DataFrame) -> Iterator[dict[str, object]]:
    effect = counts["kind"].map(lambda kind: MOVES if PlantedKind(kind) in MUST_BECOME else STAYS)
    for name in counts["judge"].drop_duplicates():
        for wanted in (MOVES, STAYS):
            own = counts[(counts["judge"] == name) & (effect == wanted)]
            if len(own):
                yield {"judge": name, "kind": ALL_KINDS, "variant": ALL_VARIANTS, "effect": wanted, **_figures(own)}


def _figures(group: pd.DataFrame) -> dict[str, object]:
    outcome, pairs = group["outcome"], group["pairs"].astype(int)
    group = group.assign(pairs=pairs)
    telling = outcome.isin([PlantedOutcome.RIGHT, PlantedOutcome.LENIENT, PlantedOutcome.WRONG])
    right = outcome == PlantedOutcome.RIGHT
    # An instruction to give the existing label can be neither obeyed nor refused
    ordered = telling & group["ordered"].notna() & (group["ordered"] != group["label_before"])
    return {
        **share_columns(group, right, telling),
        **_renamed("lenient", share_columns(group, right | (outcome == PlantedOutcome.LENIENT), telling)),
        **_renamed("obeyed", share_columns(group, ordered & (group["label"] == group["ordered"]), ordered)),
        "no_label": int(pairs[outcome == PlantedOutcome.NO_LABEL].sum()),
        "untelling": int(pairs[outcome == PlantedOutcome.UNTELLING].sum()),
        "items": int(pairs.sum()),
    }


def _renamed(name: str, share: dict[str, object]) -> dict[str, object]:
    ends = {name: share["value"], f"{name}_low": share["value_low"], f"{name}_high": share["value_high"]}
    return ends | {f"{name}_count": share["count"], f"{name}_of": share["of"]}


@metric(sql=LABELS_SQL, table=LABELS_TABLE, glossary=LABELS_GLOSSARY)
def planted_labels(con: Connection) -> pd.DataFrame:
    """The judge's label before each planted change, and after it.

    One row per judge, kind, label before and label after that occur:
        judge, kind          str
        label_before, label  str, a label or UNSCORED
        items                int, planted changes
    """
    return frame(con, LABELS_SQL)


@metric(sql=ITEMS_SQL, table=ITEMS_TABLE, glossary=ITEMS_GLOSSARY)
def planted_items(con: Connection, kind: str | None = None, outcome: str | None = None) -> pd.DataFrame:
    """The planted changes, one by one, with their outcomes.

    kind      only this kind of change
    outcome   only 'right', 'lenient', 'wrong', 'untelling' or 'no label'

    One row per planted change and judge:
        item_id, question_id, question, handbook_a, handbook_b, judge, kind, variant, side   str
        before, after                 str, the words that were changed
        expected                      list of str, labels that are right after the change
        ordered, label_before, label  str or None
        reasoning, unscored_reason    str or None
        outcome                       str: right; lenient (right only where counted leniently); wrong; untelling (the label was
                                      there before); no label

    Raises AuditError for an unknown kind or outcome.
    """
    _require(kind, [str(name) for name in PLANTED_KINDS], "kind")
    _require(outcome, [str(name) for name in PlantedOutcome], "outcome")
    items = _with_outcome(frame(con, ITEMS_SQL))
    for name, value in (("kind", kind), ("outcome", outcome)):
        items = items if value is None else items[items[name] == value]
    return items.reset_index(drop=True)


def _require(value: str | None, allowed: list[str], name: str) -> None:
    if value is not None and value not in allowed:
        raise AuditError(f"{name} must be one of {', '.join(allowed)}, not {value}. Nothing was computed.")
