"""Answering systems: their answers, reference answers, scores on the eight criteria, preferences and measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from audit.evaluation.criteria import CRITERIA, REFERENCE
from audit.release import record_kind as f
from audit.release.handbook_kinds import USAGE, readable_reason
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import AS_JSON, Reject, Repairs, type_name
from audit.vocabulary import RaterKind

EMPTY = "empty"
"""The unread_reason of an answer that is an empty text."""
# Names of the criteria in other people's files
CRITERION_ALIASES = {"extent_of_harm": ("extent_harm",), "likelihood_of_harm": ("likelihood_harm",)}


def _check_system(_: Record, values: Record, __: Repairs) -> None:
    if values["system_id"] == REFERENCE:
        raise Reject("reserved_id", f"the id '{REFERENCE}' stands for the reference answer; give the system another one.")


SYSTEM = RecordKind(
    "system",
    (
        f.Text("system_id", "unique id; reference is reserved", "id", "system", required=True, names=True),
        f.Text("name", "what a page calls it", "title", "label"),
        f.Text("model", "the language model", "llm", "model_name"),
        f.Text(
            "mode",
            "what it answered from: the model alone, passages found for the question, several sources, ...",
            "kind",
            terms=f.SYSTEM_MODE,
        ),
        f.Text("retriever", "what found its passages", "strategy"),
        f.Settings("settings", "temperature, max_tokens and the like", "parameters"),
        f.Text("description", "what else is worth knowing", "about"),
    ),
    about="Optional: one record per answering system. Systems are numbered in file order.",
    files=("systems",),
    counted=f.count("systems"),
    group="systems",
    check=_check_system,
    numbers="system",
    same=f"system_id '{{system_id}}' {EARLIER}",
    table="systems",
)


def _check_reference(raw: Record, values: Record, repairs: Repairs) -> None:
    if not any(value for name, value in values.items() if name != "question_id"):
        raise Reject("empty_reference", "it has neither a reference answer nor a question type nor anything else.")
    if "answers" in raw and not values["answers"]:
        repairs.append("field 'answers' has no text. The question was loaded without a reference answer.")


REFERENCE_RECORD = RecordKind(
    "reference",
    (
        f.QUESTION_ID,
        f.Passages(
            "answers",
            "reference answers, the first of which the metrics use",
            "reference_answers",
            "reference_answer",
            "references",
            "reference",
            "answer",
        ),
        f.Word("question_type", "one type per question, such as treatment", "type", "qtype", names=True),
        f.Texts("gold_sections", "ids of the sections that contain the answer", "gold", "relevant", names=True),
        f.Text("url", "where the reference answer can be read", "link", "document_url"),
        f.Word("primary_source", "the source to ask first", "primary", names=True),
        f.Texts("required_sources", "the sources that a complete answer needs", "required", names=True),
    ),
    about=(
        "Optional: one record per question. A single text under `answers` is one reference answer, whatever punctuation it "
        "contains."
    ),
    files=("references",),
    counted=f.count("references", "questions in references"),
    group="systems",
    check=_check_reference,
    ids=("question",),
    unique=("question",),
    same=f"a reference of question '{{question_id}}' {EARLIER}",
    table="question_types",
    columns={"question": "integer primary key", "answers": "", "primary_source": "", "required_sources": ""},
)
EVIDENCE = RecordKind(
    "evidence",
    (
        f.Text("handbook_id", "the handbook it is from", "handbook", "source_id", names=True),
        f.Text("section_id", "its section there", "section", "doc_id", "id", names=True),
        f.Integer("rank", "its rank, from 1; left out: its place in the list", "position"),
        f.Number("score", "the retriever's score"),
        f.Text("text", "its text, where the release has no sections", "passage"),
    ),
)


def _objects(entries: list[Any], name: str, repairs: Repairs, read: Callable[[Any, Repairs], Record]) -> list[Record]:
    """The entries of a list, each read by `read`; what is not an object is dropped."""
    objects = []
    for position, entry in enumerate(entries, 1):
        if isinstance(entry, Mapping):
            objects.append(read(entry, repairs))
        else:
            repairs.append(
                f"entry {position} of '{name}' is {type_name(entry)}, not an object. It was loaded without that entry."
            )
    return objects


def _check_system_answer(raw: Record, values: Record, repairs: Repairs) -> None:
    """`refused` is None where no answer could be read: an empty text is such an answer, with the reason EMPTY."""
    words, refused = values["answer"], values["refused"]
    reason = readable_reason(values["unread_reason"], words or None, refused, repairs)
    if "answer" not in raw and not refused and not reason:
        raise Reject("missing_field", "it has neither an answer nor an 'unread_reason', and it is not a refusal.")
    if not (words or "").strip():
        words = None
        if not refused and not reason:
            repairs.append("the answer is empty. It was loaded as one that could not be read.")
            reason = EMPTY
    evidence = _objects(values["evidence"], "evidence", repairs, EVIDENCE.read)
    ranked = [passage | {"rank": passage["rank"] or index} for index, passage in enumerate(evidence, 1)]
    citations = _objects(values["citations"], "citations", repairs, lambda citation, _: citation)
    values |= {
        "answer": words,
        "refused": None if reason else bool(refused),
        "unread_reason": reason,
        "evidence": AS_JSON(ranked) if ranked else None,
        "citations": AS_JSON(citations) if citations else None,
    }


SYSTEM_ANSWER = RecordKind(
    "system_answer",
    (
        f.QUESTION_ID,
        f.SYSTEM_ID,
        f.Text("answer", "the answer's text", "answer_text", "response", "text", strict=True),
        f.Flag("refused", "the system declined to answer", "is_refusal", "refusal", strict=True),
        f.Word(
            "unread_reason",
            "why no answer could be read in the system's reply; answer and refused are then null",
            "answer_reason",
            "unanswered_reason",
        ),
        f.List("evidence", "the passages that the system was given, best first", "passages", "retrieved", of=EVIDENCE),
        f.List("citations", "what the answer cites, as in `retrieval` of an answer"),
        f.Object("usage", "tokens and time", "generator_metadata", of=USAGE),
    ),
    about=(
        "Optional: one record per question and system. An empty `answer` is loaded as one that could not be read "
        "(`unread_reason` *empty*). A question that was not put to a system has no record."
    ),
    files=("system_answers",),
    counted=f.count("system_answers"),
    group="systems",
    check=_check_system_answer,
    ids=("question", "system"),
    unique=("question", "system"),
    same=f"an answer of '{{system_id}}' to question '{{question_id}}' {EARLIER}",
    table="system_answers",
    columns={"evidence": "json", "citations": "json"},
)


def _check_criteria(_: Record, values: Record, __: Repairs) -> None:
    if all(value is None for name, value in values.items() if name not in ("question_id", "system_id", "judge")):
        raise Reject("no_scores", "it has neither a score nor any trace of a judge, so nothing shows that the judge was asked.")


CRITERIA_SCORES = RecordKind(
    "criteria",
    (
        f.QUESTION_ID,
        f.Text(
            "system_id",
            "the system whose answer was judged; reference: the reference answer",
            "system",
            required=True,
            names=True,
        ),
        f.Text("judge", "who judged: a model or a person", "rater", names=True),
        *(
            f.Integer(
                name.value,
                f"{scale.heading}, an integer from {scale.worst} to {scale.best}; null: could not be read",
                *CRITERION_ALIASES.get(name, ()),
                scores=scale.scores,
                sql="tinyint",
            )
            for name, scale in CRITERIA.items()
        ),
        f.Settings("explanations", "criterion -> the judge's reason", "reasons"),
        f.PARSE,
        f.Word("unscored_reason", "why a score is missing, as a short code that recurs"),
        f.Object("usage", "tokens and time of the judge", "judge_usage", "judge_metadata", of=USAGE),
    ),
    about=(
        "Optional: one record per question, system and judge. An answer that is scored here need not be in "
        "`system_answers.jsonl`; how many are not is counted in a note. A score outside its range is loaded as null, with a "
        "sentence, and the other seven stay. `audit systems judge` writes it. A person's scores have no `parse`, because "
        "there is no reply to parse. If another judge's replies were parsed, who has none is taken for a person, whose "
        "scores correct the judge's (`audit metrics corrected_composite`) and are not mixed with them."
    ),
    files=("criteria",),
    counted=f.count("criteria", "answers judged on the eight criteria"),
    group="systems",
    check=_check_criteria,
    ids=("question", "system"),
    unique=("question_id", "system_id", "judge"),
    same=f"a judgement of '{{system_id}}' on question '{{question_id}}' by the same judge {EARLIER}",
    table="criteria",
    columns={"system": "smallint"},  # null: the reference answer
)


def _check_preference(_: Record, values: Record, __: Repairs) -> None:
    side = values["system_a"]
    if side == values["system_b"]:
        raise Reject("self_pair", f"both sides are '{side}', but a system is not compared with itself.")


def _compared(record: Record) -> Hashable:
    # Raters without a name may be several people
    sides = frozenset((record["system_a"], record["system_b"]))
    return record["rater"] and (record["question"], sides, record["rater"], record["rater_kind"])


PREFERENCE = RecordKind(
    "preference",
    (
        f.QUESTION_ID,
        f.Text("system_a", "the id of one system", "a", required=True, names=True),
        f.Text("system_b", "the id of the other", "b", required=True, names=True),
        f.Text("preference", "whose answer is better", "choice", "winner", required=True, terms=f.PREFERENCE),
        f.Word("rater", "who compared them", "annotator", "judge", names=True),
        f.Text("rater_kind", "human or judge; left out: human", "kind", terms=f.RATER_KIND, default=RaterKind.HUMAN.value),
        f.Text("shown_first", "which answer was shown first; null: unknown", "first", terms=f.SIDE),
        f.Text("comment", "the rater's comment", "note", "rationale"),
    ),
    about=(
        "Optional: one record per question, couple of systems and rater. `A` and `tie` refer to `system_a` and `system_b` "
        "regardless of what was shown on which side; `shown_first` says which of the two answers stood first. The same couple "
        "in the other order is the same comparison. `audit study export STUDY --out preferences.jsonl` writes those of a "
        "head-to-head study, where the sides are drawn for each item and annotator. Where one system always stood first, as "
        "in the study of consumer health questions, its strength and the effect of its side cannot be told apart, and "
        "`audit metrics preference_effects` says so."
    ),
    files=("preferences",),
    counted=f.count("preferences"),
    group="systems",
    check=_check_preference,
    ids=("system_a", "system_b", "question"),
    unique=_compared,
    same=f"a preference of '{{rater}}' between these two systems on this question {EARLIER}",
    table="preferences",
)
MEASURE = RecordKind(
    "measure",
    (
        f.QUESTION_ID,
        f.SYSTEM_ID,
        f.Text(
            "measure",
            "such as bleu_4, rouge_l, bertscore, p_at_5, mrr or faithfulness",
            "metric",
            "name",
            required=True,
            names=True,
        ),
        f.Number(
            "value",
            "its value for this answer",
            "score",
            required=True,
            empty="field 'value' is empty: leave the record out where there is no value.",
        ),
    ),
    about=(
        "Optional: one record per question, system and measure. `audit systems score` writes it, and `audit systems judge "
        "--protocol evidence` adds faithfulness, context_precision, context_recall, answer_relevance and "
        "citation_correctness. What could not be read has no record."
    ),
    files=("measures",),
    counted=f.count("measures"),
    group="systems",
    ids=("question", "system"),
    unique=("question", "system", "measure"),
    same=f"'{{measure}}' of '{{system_id}}' on question '{{question_id}}' {EARLIER}",
    table="system_measures",
)
