"""When to retrieve: whether features known before answering predict which of two systems should answer, and the gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.selective_answering import FEATURES, MIN_DIFFERING, RetrievalRule, answer_features, learn_when_to_retrieve
from audit.formatting import fixed
from audit.metrics import metric
from audit.metrics._systems import CHOSEN, COMPOSITE, composite_values, selection_parameters, system_number
from audit.queries.lookup import require_one_of
from audit.stats.intervals import Floats
from audit.stats.means import mean_change, mean_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import RaterKind, SystemMode

PREFERENCE = "preference"
OUTCOMES = (COMPOSITE, PREFERENCE)
NEVER, ALWAYS, RULE, BEST = "never", "always", "rule", "best"
RETRIEVING = (SystemMode.RETRIEVAL, SystemMode.MULTI_SOURCE)
EVIDENCE = '[{"handbook_id": "VARCHAR", "section_id": "VARCHAR", "rank": "INTEGER", "score": "DOUBLE", "text": "VARCHAR"}]'
SQL = f"""
with passages as (
    select question, unnest(from_json(evidence, '{EVIDENCE}')) as passage
    from system_answers where system = $retrieving and evidence is not null
)
select p.question, passage.score as score, coalesce(passage.text, s.text) as text
from passages p
left join handbooks h on h.handbook_id = passage.handbook_id
left join sections s on s.handbook = h.handbook and s.section_id = passage.section_id
order by p.question, passage.rank
"""
PREFERRED = f"""
with {CHOSEN.strip()}
select question,
       avg(case when preference not in ('A', 'B') then 0.5 when (preference = 'A') = (system_a = $retrieving) then 1 else 0 end)
       as won
from preferences join chosen using (question)
where rater_kind = '{RaterKind.HUMAN.value}' and least(system_a, system_b) = least($alone, $retrieving)
  and greatest(system_a, system_b) = greatest($alone, $retrieving)
group by question
order by question
"""
SYSTEMS = (
    "select system::integer as system, system_id, coalesce(name, system_id) as name, model, mode from systems order by system"
)
QUESTIONS = f"with {CHOSEN.strip()} select question, question_type, text from chosen join questions using (question)"
HABITS = {NEVER: "never retrieve", ALWAYS: "always retrieve", RULE: "retrieve by the rule", BEST: "the better answer each time"}
TABLE = TableSpec(
    "Whether it can be predicted for which {questions} retrieval helps",
    (
        Column.text("rule", "Choice", words=HABITS),
        Column.count("questions", "{Questions}"),
        Column.count("retrieved", "Answered with retrieval", "{questions}"),
        Column.decimal("quality", "Quality", "mean"),
        Column.decimal("over_never", "Gain", "over never retrieving"),
        Column.decimal("over_always", "Gain", "over always retrieving"),
        Column.text("finding", "Finding"),
    ),
    (
        "The rule is a logistic regression on features known before answering: the scores, number and words of the "
        "passages found, and the type and length of the {question}. It is tested on {questions} that it was not trained on. The "
        "last row takes the better answer each time, which cannot be known beforehand: no rule gains more.",
        "Quality: the composite from 0 to 10; or the share of people's comparisons that the answer won, a tie counting half.",
        IntervalNote(Population.QUESTIONS, "{questions} are resampled"),
    ),
)
GLOSSARY = {"when to retrieve": "A rule that chooses, before answering, between an answer with retrieval and one without."}
COLUMNS = (
    "rule", "alone", "retrieving", "questions", "retrieved", "quality", "quality_low", "quality_high", "over_never",
    "over_never_low", "over_never_high", "over_always", "over_always_low", "over_always_high", "finding",
)  # fmt: skip
NO_RULE = f"No rule: the two answers differ on fewer than {MIN_DIFFERING} questions."


@dataclass(frozen=True)
class ModeComparison:
    """Two systems on the questions on which the quality of both is known: names, features, qualities, and the rule learned."""

    alone: str
    retrieving: str
    features: pd.DataFrame
    without: Floats
    retrieved: Floats
    rule: RetrievalRule | None


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def when_to_retrieve(
    con: Connection, outcome: str = COMPOSITE, alone: str | None = None, retrieving: str | None = None,
    question_type: str | None = None, organ: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Whether a rule that chooses between two systems before they answer gains quality over always taking one of them.

    outcome               'composite' (of the eight criteria, from 0 to 10), or 'preference': the share of people's comparisons
                          of the two that an answer won, ties and both bad counting half
    alone, retrieving     ids of the two systems; None: the first closed-book system, and the first one with retrieval, of the
                          same model where there is one
    question_type, organ  count only these questions; None: all

    Four rows: never, always, rule (choices for questions that it did not learn from), best (the better answer each time):
        rule, alone, retrieving                 str, the last two are names of systems
        questions                               int, on which the quality of both answers is known
        retrieved                               int, questions answered with retrieval (of the rule the mean over repeats); <NA>
                                                where there is no rule
        quality, quality_low, quality_high      float, mean quality of the chosen answers
        over_never, over_always (_low, _high)   float, quality minus that of never, or always, retrieving
        finding                                 str, the sentence about the rule in its row, otherwise ''

    95 % intervals with questions resampled, the choices fixed (audit.stats.means). No row where the run has not two such systems,
    or no question on which both are known. Raises NotInRunError for an unknown system, AuditError for another outcome,
    MissingLibraryError without scikit-learn. Source: audit.evaluation.selective_answering.
    """
    compared = _compared(con, outcome, alone, retrieving, selection_parameters(question_type, organ))
    if compared is None:
        return pd.DataFrame(columns=list(COLUMNS))
    difference = compared.retrieved - compared.without
    choices = {
        NEVER: np.zeros(len(difference)),
        ALWAYS: np.ones(len(difference)),
        RULE: compared.rule.retrieves if compared.rule else None,
        BEST: (difference > 0).astype(float),
    }
    table = pd.DataFrame([_row(name, chosen, compared) for name, chosen in choices.items()], columns=list(COLUMNS))
    return table.astype({"retrieved": "Int64"})


def _compared(
    con: Connection, outcome: str, alone: str | None, retrieving: str | None, only: dict[str, str | None]
) -> ModeComparison | None:
    require_one_of(outcome, OUTCOMES, "Outcome")
    systems = frame(con, SYSTEMS)
    first, second = _chosen_systems(systems, alone, retrieving)
    if first is None or second is None:
        return None
    questions = frame(con, QUESTIONS, only)
    quality = _quality(con, outcome, first, second, only)
    questions = questions[questions["question"].isin(quality.index)].sort_values("question")
    if questions.empty:
        return None
    features = answer_features(questions, frame(con, SQL, {"retrieving": second}))
    without, retrieved = (quality.loc[questions["question"], side].to_numpy(dtype=float) for side in ("without", "retrieved"))
    names = systems.set_index("system")["name"]
    rule = learn_when_to_retrieve(features.to_numpy(), retrieved - without)
    return ModeComparison(names[first], names[second], features, without, retrieved, rule)


def _chosen_systems(systems: pd.DataFrame, alone: str | None, retrieving: str | None) -> tuple[int | None, int | None]:
    """The numbers of the two systems; None where the run has none of that kind."""
    first = _first(systems[systems["mode"] == SystemMode.CLOSED_BOOK]) if alone is None else system_number(systems, alone)
    if retrieving is not None:
        return first, system_number(systems, retrieving)
    others = systems[systems["mode"].isin(RETRIEVING)]
    model = systems["model"][systems["system"] == first]
    same = others[others["model"].isin(model.dropna())]
    return first, _first(others if same.empty else same)


def _first(systems: pd.DataFrame) -> int | None:
    return None if systems.empty else int(systems["system"].iloc[0])


def _quality(con: Connection, outcome: str, alone: int, retrieving: int, only: dict[str, str | None]) -> pd.DataFrame:
    """By question, where both are known: without, retrieved."""
    if outcome == PREFERENCE:
        won = frame(con, PREFERRED, {**only, "alone": alone, "retrieving": retrieving}).set_index("question")["won"]
        return pd.DataFrame({"without": 1 - won, "retrieved": won})
    table = composite_values(con, only["question_type"], only["organ"]).pivot(index="question", columns="system", values="value")
    known: pd.DataFrame = table.reindex(columns=[alone, retrieving]).dropna()
    return known.set_axis(["without", "retrieved"], axis=1)


def _row(rule: str, chosen: Floats | None, compared: ModeComparison) -> dict[str, Any]:
    row = {"rule": rule, "alone": compared.alone, "retrieving": compared.retrieving, "questions": len(compared.without)}
    if chosen is None:
        return row | {"finding": NO_RULE}
    quality = chosen * compared.retrieved + (1 - chosen) * compared.without
    row |= {"retrieved": round(chosen.sum()), **_named("quality", mean_interval(quality))}
    for name, habit in (("over_never", compared.without), ("over_always", compared.retrieved)):
        change = mean_change(quality - habit)
        row |= _named(name, (change["change"], change["change_low"], change["change_high"]))
    return row | {"finding": finding(row) if rule == RULE else ""}


def _named(name: str, numbers: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))


def finding(row: dict[str, Any]) -> str:
    """The conclusion from the gains of the rule, in a sentence. A gain is claimed only where both intervals are above 0."""
    # Over the better of the two habits: a rule that beats only the worse one is useless
    habit, name = min((row["over_never"], "over_never"), (row["over_always"], "over_always"))
    against = {"over_never": "never retrieving", "over_always": "always retrieving"}[name]
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    span = "" if np.isnan(low) else f" (95 % interval {fixed(low, 2)} to {fixed(high, 2)})"
    if row["over_never_low"] > 0 and row["over_always_low"] > 0:
        return f"The rule gains {fixed(habit, 2)}{span} over {against}, the better of the two habits."
    if habit == 0:
        return f"No gain: the rule found no useful feature and amounts to {against}."
    return f"No gain is shown: the rule changes the mean quality by {fixed(habit, 2)}{span} against {against}."


SIGNALS_TABLE = TableSpec(
    "What speaks for retrieval before a {question} is answered, according to the rule",
    (
        Column.text("feature", "Known beforehand", words=FEATURES),
        Column.count("questions", "{Questions}", "where known"),
        Column.decimal("weight", "Weight", "mean"),
        Column.decimal("least", "Weight", "lowest"),
        Column.decimal("most", "Weight", "highest"),
    ),
    (
        "The rule is learned again and again, each time without a fifth of the {questions}. Weight: by how much the log odds of "
        "retrieval being better rise with one standard deviation more of the feature. A weight whose sign changes is "
        "uninformative.",
    ),
)
SIGNALS_GLOSSARY = {"sufficiency": "How much of {a_question} the passages cover: the share of its words that are in them."}


@metric(sql=SQL, table=SIGNALS_TABLE, glossary=SIGNALS_GLOSSARY)
def retrieval_signals(
    con: Connection, outcome: str = COMPOSITE, alone: str | None = None, retrieving: str | None = None,
    question_type: str | None = None, organ: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The rule of `when_to_retrieve`: the weight of each feature that is known before answering.

    The options and the errors are those of `when_to_retrieve`.
    One row per feature that varies, the heaviest first:
        feature               str, a key of audit.evaluation.selective_answering.FEATURES, or 'type: NAME'
        questions             int, for which it is known
        weight, least, most   float, mean and extremes over repeats and folds, in log odds per standard deviation

    No row where there is no rule.
    """
    compared = _compared(con, outcome, alone, retrieving, selection_parameters(question_type, organ))
    if compared is None or compared.rule is None:
        return pd.DataFrame(columns=["feature", "questions", "weight", "least", "most"])
    weights = compared.rule.weights
    known = compared.features.notna().sum().to_numpy()
    table = pd.DataFrame({
        "feature": compared.features.columns, "questions": known, "weight": weights.mean(axis=0), "least": weights.min(axis=0),
        "most": weights.max(axis=0),
    })  # fmt: skip
    return table.sort_values("weight", key=np.abs, ascending=False, kind="stable", ignore_index=True)
