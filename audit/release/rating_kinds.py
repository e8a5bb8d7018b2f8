"""Planted changes with a judge's label before and after each, labels that raters gave to pairs, and positions on a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.people_tables import plain_name, rater_columns, rater_key
from audit.release import record_kind as f
from audit.release.handbook_kinds import USAGE
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import DoubledKeys, Reject, Repairs, number, object_value, optional, texts, vocabulary_term, word
from audit.vocabulary import PositionMethod

GOLD = "gold"
"""The name of the rater that represents the adjudicated label."""


def _label(value: Any, name: str) -> Any:
    return vocabulary_term(value, f.LABEL.spellings, name, f.LABEL.allowed)


def _significance(value: Any, name: str) -> Any:
    return vocabulary_term(value, f.SIGNIFICANCE.spellings, name, f.SIGNIFICANCE.allowed)


# -- planted changes -----------------------------------------------------------------------------------------------

PLANTED_CHANGE = RecordKind(
    "planted_change",
    (
        f.Text("before", "the original words; empty: something was added", "old"),
        f.Text("after", "the replacement; empty: something was removed", "new"),
        f.Integer("start", "where these begin in the changed answer, in characters from 0", "position"),
        f.Text("side", "the answer that was changed; both: the answers were swapped", "answer", terms=f.CHANGED_SIDE),
    ),
)


def _change(value: Any, name: str) -> Record:
    return PLANTED_CHANGE.canonical(object_value(value, name) or {})


def _labels(value: Any, name: str) -> list[Any]:
    """A list of labels. One that is unknown rejects the record: without it, a right label would count as wrong."""
    return [label for spelled in texts(value, name) if (label := _label(spelled, name))]


def _check_planted(_: Record, values: Record, repairs: Repairs) -> None:
    """`start` is None if the changed words are not at that position in the answer."""
    if values["label"] is None and not any(values[name] for name in ("reasoning", "unscored_reason", "judge")):
        raise Reject("no_verdict", "it has neither a label nor any trace of a judge, so nothing shows that it was ever asked.")
    start, after = values["start"], values["after"] or ""
    answer = values.get(f"answer_{values['side']}") or ""
    if start is not None and (start < 0 or answer[start : start + len(after)] != after):
        repairs.append(
            "field 'change' does not match the answer: its words are not at that position. It was loaded without the position."
        )
        values["start"] = None


PLANTED = RecordKind(
    "planted",
    (
        f.Text("item_id", "unique id of the planted change", "id", required=True, names=True),
        f.QUESTION_ID,
        f.Text("handbook_a", "whose answer is shown first", "a", required=True, names=True),
        f.Text(
            "handbook_b",
            "whose answer is shown second; the same handbook: an answer next to itself",
            "b",
            required=True,
            names=True,
        ),
        f.Text("kind", "what was changed", "change_kind", required=True, terms=f.PLANTED_KIND),
        f.Word("variant", "the variant of the change, such as the wording of an instruction", "wording"),
        f.Text("ordered", "instruction: the label that the planted text asks for", "ordered_label", terms=f.LABEL, strict=True),
        f.Texts(
            "expected",
            "the labels that are right after the change; if the label must stay, the one before",
            strict=True,
            convert=_labels,
            sql="label[]",
        ),
        f.Object("change", "what was changed, and where", "edit", of=PLANTED_CHANGE, convert=_change),
        f.Text("answer_a", "the first answer after the change"),
        f.Text("answer_b", "the second answer after the change"),
        f.Text(
            "label_before", "the judge's label on the unchanged pair; null: unscored", "before_label", terms=f.LABEL, strict=True
        ),
        f.Text(
            "label",
            "the judge's label on the changed pair; null: unscored",
            "classification",
            "label_after",
            terms=f.LABEL,
            strict=True,
        ),
        f.Word("reasoning", "the judge's reason for it", "rationale", "reason"),
        f.Word("unscored_reason", "why a label is missing, as a short code that recurs"),
        f.Word("judge", "who judged", "model", names=True),
        f.Object("usage", "tokens and time of the judge on the changed pair", "judge_metadata", of=USAGE),
    ),
    about=(
        "Optional: one record per planted change and judge. A change is made to one of two answers (or to their order), and "
        "the judge is asked before and after it. After *amount*, *negation*, *detail* and *blank* the label must be one of "
        "`expected`; after *order*, *synonyms*, *padding*, *swap*, *center* and *instruction* it must be the one of before. "
        "`audit stress judge` writes it; a change without a record was not asked. `answer_a` and `answer_b` are the texts "
        "after the change: with the words of `change` undone they are those of before."
    ),
    files=("planted",),
    counted=f.count("planted", "planted changes"),
    check=_check_planted,
    ids=("question", "handbook_a", "handbook_b"),
    unique=("item_id", "judge"),
    same=f"item_id '{{item_id}}' by the same judge {EARLIER}",
    table="planted",
)

# -- ratings -------------------------------------------------------------------------------------------------------


def _rater_fields(rater: str, words: str) -> tuple[f.Field, ...]:
    # Read by `_read_raters`, as further raters have fields of the same form
    return (
        f.Text(f"annotator_{rater}", f"the label that {words} gave; empty: none", terms=f.LABEL, column=""),
        f.Text(f"significance_{rater}", f"the clinical significance that {words} gave", terms=f.SIGNIFICANCE, column=""),
        f.Text(f"comment_{rater}", f"what {words} wrote", column=""),
    )


def _weight(value: Any, name: str) -> float | None:
    """The design weight. A wrong one rejects the record: without it, no figure of the run could be computed at all."""
    weight = number(value, name)
    # The tolerance allows for weights written with few digits
    if weight is not None and weight < 1 - 1e-6:
        raise Reject(
            "wrong_weight",
            f"field 'design_weight' is {weight:g}, but must be at least 1, because an item represents at least itself.",
        )
    return weight


def _names_twice(record: Mapping[Any, Any]) -> str:
    names = [str(name) for name in record]
    folded = [plain_name(name) for name in names]
    twice = [name for name, fold in zip(names, folded, strict=True) if folded.count(fold) > 1]
    return ", ".join(dict.fromkeys([*twice, *getattr(record, "own", ()), *getattr(record, "inside", ())]))


def _read_raters(record: Mapping[Any, Any], values: Record, repairs: Repairs) -> None:
    """`raters` has one entry per rater who gave a label: rater (a, b, ..., gold), label, significance, comment."""
    columns = {plain_name(str(name)): value for name, value in record.items()}
    if len(columns) < len(record) or isinstance(record, DoubledKeys):
        raise Reject("doubled_field", f"a field occurs twice, so its value is unknown; it has: {_names_twice(record)}.")
    labels = {rater_key(name): columns[name] for name in rater_columns(columns)}
    # An unknown word rejects the record: dropping it as a missing label would favour the other raters
    labels_by_rater = {rater: _label(value, f"annotator_{rater}") for rater, value in labels.items()}
    labels_by_rater[GOLD] = _label(HUMAN_RATING.canonical(record).get(GOLD, labels.get(GOLD)), GOLD)
    values["raters"] = [
        {
            "rater": rater,
            "label": label,
            "significance": optional(_significance, columns, f"significance_{rater}", repairs),
            "comment": optional(word, columns, f"comment_{rater}", repairs),
        }
        for rater, label in labels_by_rater.items()
        if label is not None
    ]


HUMAN_RATING = RecordKind(
    "human_rating",
    (
        f.Text("item_id", "unique id of the rated pair", "id", required=True, names=True),
        f.QUESTION_ID,
        f.Text("handbook_a", "whose answer is shown first", "a", required=True, names=True),
        f.Text("handbook_b", "whose answer is shown second", "b", required=True, names=True),
        f.Word("stratum", "the stratum that the pair was drawn from; left out: the judge's label"),
        f.Number(
            "design_weight",
            "pairs of the run in the stratum over pairs drawn from it; at least 1",
            "weight",
            strict=True,
            convert=_weight,
        ),
        f.Text("judge", "the judge's label when the sample was drawn", "judge_label", terms=f.LABEL, strict=True, names=True),
        f.Text("judge_significance", "the clinical significance that the judge gave", "significance_judge", terms=f.SIGNIFICANCE),
        *_rater_fields("a", "the first rater"),
        *_rater_fields("b", "the second rater; further raters are c, d, ..."),
        f.Text(GOLD, "the label after adjudication; empty: not adjudicated", terms=f.LABEL, column=""),
        f.Text("significance_gold", "the clinical significance after adjudication", terms=f.SIGNIFICANCE, column=""),
    ),
    about=(
        "Optional: one record per pair that raters labelled, with as many raters as there are. The page *Trust in the "
        "judge* computes their agreement and the judge's precision and recall from it, and corrects the shares of the run "
        "where `design_weight` says how the pairs were drawn. The manifest's `raters` says who they are; otherwise the page "
        "states that this is unknown. The digest that names the run leaves these files out, so ratings can be added later: "
        "load the release again."
    ),
    files=("annotations/validation_labels", "human_ratings"),
    counted=f.count("human_ratings", "pairs that raters labelled"),
    whole=_read_raters,
    ids=("question", "handbook_a", "handbook_b"),
    same="item '{item_id}' or its pair occurs earlier; the first record was kept.",
    table="rated_pairs",
    columns={"item": "integer primary key"},
)

# -- positions -----------------------------------------------------------------------------------------------------

HOLDER = RecordKind(
    "holder",
    (
        f.Text("handbook_id", "the handbook that takes the position", "handbook", required=True, names=True),
        f.Text("quote", "its own words, verbatim from its answer", "sentence", "evidence", required=True),
        f.Integer("start", "where they begin in the answer, in characters from 0; left out: where they first occur"),
        f.Integer("end", "where they end", column=""),
        f.Word("lead", "the line that introduces them in the answer, where they are an item of a list"),
    ),
    ids=("handbook",),
    table="position_holders",
    columns={"number": "integer not null", "end": "integer"},
)


def _check_position(_: Record, values: Record, repairs: Repairs) -> None:
    values["holders"] = [HOLDER.read(holder, repairs) for holder in values["holders"]]
    if not values["holders"]:
        raise Reject("no_holders", "field 'holders' is empty, but a position needs a handbook that takes it.")


POSITION = RecordKind(
    "position",
    (
        f.QUESTION_ID,
        f.Word("aspect", "the aspect of the question that it is about", "topic"),
        f.Text("statement", "what its holders state, as a short statement", "position", "claim", required=True),
        f.Word("value", "the amount, or yes or no, that distinguishes it from the others"),
        f.List("holders", "who takes it, each with a quote", "handbooks", required=True, of=HOLDER),
        f.Text(
            "method",
            "how it was found: from labels, by a judge, or by the people who made the release; left out: release",
            "found_by",
            terms=f.POSITION_METHOD,
            strict=True,
            default=PositionMethod.RELEASE,
        ),
    ),
    about=(
        "Optional: what one or more handbooks state on one aspect of a question. `audit positions build` writes it from labels, "
        "and `audit judge --protocol positions` by a model; where a release has none, pages find the positions of a question "
        "from its labels when it is opened. Every quote must be in the answer of its handbook, word for word."
    ),
    files=("positions",),
    counted=f.count("positions", "positions on questions"),
    check=_check_position,
    ids=("question",),
    table="positions",
    columns={"number": "integer primary key"},
)
