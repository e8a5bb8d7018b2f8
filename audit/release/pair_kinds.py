"""Pairs and what belongs to them: the judge's metadata, checks, comparisons, themes, and a handbook's own pairs."""

from __future__ import annotations

from typing import Any

from audit.release import record_kind as f
from audit.release.handbook_kinds import HANDBOOK_ALIASES
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import Reject, Repairs, integer, is_missing, list_value, optional
from audit.vocabulary import DISAGREEING, Label

MAX_CHECKS = 30_000
CLASSIFICATION_ALIASES = ("label", "verdict", "judgement", "judgment")
SIGNIFICANCE_ALIASES = ("significance", "severity")
OF_PAIR = {"question": "integer not null", "handbook_a": "smallint not null", "handbook_b": "smallint not null"}


def _label(meaning: str, **options: Any) -> f.Field:
    return f.Text("classification", meaning, *CLASSIFICATION_ALIASES, terms=f.LABEL, column="label", **options)


def _significance(meaning: str) -> f.Field:
    return f.Text(
        "clinical_significance", meaning, *SIGNIFICANCE_ALIASES, terms=f.SIGNIFICANCE, strict=True, column="significance"
    )


def _check_significance(_: Record, values: Record, repairs: Repairs) -> None:
    """Drops the significance of a pair whose label is not a disagreement."""
    _only_of_disagreements(values, repairs, "significance", "clinical_significance")


def _only_of_disagreements(values: Record, repairs: Repairs, key: str, name: str) -> None:
    """Drops what only a disagreement has from a pair with another label; `name` is that of its field."""
    term: str | None = values[key]
    label: Label | None = values["label"]
    if term is not None and label not in DISAGREEING:
        repairs.append(
            f"{name} '{term}' on {label or 'an unscored pair'}: only {' and '.join(DISAGREEING)} have one. "
            "The pair was loaded without it."
        )
        values[key] = None


def _check_number(value: Any, name: str) -> int | None:
    number = integer(value, name)
    if number is not None and not 0 <= number <= MAX_CHECKS:
        raise Reject("wrong_type", f"field '{name}' is {number}, but must lie between 0 and {MAX_CHECKS:,}.")
    return number


CHECK = RecordKind(
    "check",
    (
        f.Text(
            "kind",
            "swap: the answers in the other order; blind: without the names of centers; repeat: unchanged",
            required=True,
            terms=f.CHECK_KIND,
        ),
        f.Integer("number", "tells checks of one kind apart; counted when left out", "no", "index", convert=_check_number),
        _label("the label given this time; null: unscored", strict=True),
        _significance("the significance given this time; DIVERGENT and CONTRADICTORY only"),
        f.PARSE,
    ),
    about=(
        "One record per further verdict of the same judge on the same pair, made to measure the judge and not the "
        "handbooks: the pair's label stays the one in `classification`. Pairs that were not checked have none, and "
        "unchecked pairs are *not measured*, never zero."
    ),
    check=_check_significance,
    table="checks",
    columns=OF_PAIR | {"number": "smallint not null"},
)


def read_checks(value: Any, repairs: Repairs) -> list[Record]:
    """The further verdicts on a pair. One that cannot be used is dropped."""
    accepted: dict[tuple[str, int], Record] = {}
    for position, record in enumerate(optional(list_value, {"checks": value}, "checks", repairs) or [], 1):
        try:
            check = CHECK.read(record, repairs)
            kind, number = check["kind"], check["number"]
            if number is None:
                number = 1 + sum(other == kind for other, _ in accepted)
            if (kind, number) in accepted:
                raise Reject("duplicate_check", f"a check '{kind}' of number {number} occurs earlier.")
            accepted[kind, number] = check | {"number": number}
        except Reject as reject:
            repairs.append(f"check {position}: {reject} The pair was loaded without that check.")
    return list(accepted.values())


JUDGE_READING = (
    f.PARSE,
    f.Text("unscored_reason", "why there is no label, as a short code that recurs"),
    f.Integer("cached_tokens", "tokens of the prompt that the server had in its cache"),
    f.Text("prompt", "digest of the prompt's template"),
)
READING = RecordKind("reading", JUDGE_READING, table="readings", columns=OF_PAIR)
"""How the judge's reply on a pair was read: part of its metadata, with a table of its own."""
JUDGE_METADATA = RecordKind(
    "judge_metadata",
    (*f.JUDGE_USAGE, *JUDGE_READING),
    about=(
        "One object, all of it optional; its names must be spelled as shown here. A release should have `parse` and the "
        "fields after it on every pair that was judged or on none: in more than 32 MB of pairs they are looked for in "
        "files spread evenly over all."
    ),
)


GROUNDS = (
    f.Text("quote_a", "the words of the answer of `handbook_a` that the verdict rests on"),
    f.Text("quote_b", "those of the other answer"),
    f.Text("difference", "why the advice differs; DIVERGENT and CONTRADICTORY only", terms=f.DIFFERENCE),
    f.Text("follow_both", "whether one patient can follow both; DIVERGENT and CONTRADICTORY only", terms=f.FOLLOW_BOTH),
)
"""What a verdict rests on: detected once for a release, as columns that no file has would take their time."""
OF_DISAGREEMENTS = ("difference", "follow_both")


def _check_pair(raw: Record, values: Record, repairs: Repairs) -> None:
    """`asked` is whether the judge left a trace (a reason or metadata)."""
    asked = not (is_missing(raw.get("reasoning")) and is_missing(raw.get("judge_metadata")))
    if values["label"] is None and not asked:
        raise Reject("no_verdict", "it has neither a label nor any trace of a judge, so nothing shows that it was ever asked.")
    if values["handbook_a"] == values["handbook_b"]:
        side = values["handbook_a"]
        raise Reject("self_pair", f"both sides are '{side}', but a handbook is not compared with itself.")
    _check_significance(raw, values, repairs)
    for name in OF_DISAGREEMENTS:
        _only_of_disagreements(values, repairs, name, name)
    values |= {"asked": asked, "checks": read_checks(raw.get("checks"), repairs)}


PAIR = RecordKind(
    "pair",
    (
        f.Text("handbook_a", "one handbook of the pair", "handbook_1", "source_a", "a", required=True, names=True),
        f.Text("handbook_b", "the other", "handbook_2", "source_b", "b", required=True, names=True),
        _label("the judge's label; null with a trace of the judge (a reason, metadata) means unscored", strict=True),
        f.Text("reasoning", "the judge's reason; null where it was not asked", "rationale", "explanation", "reason"),
        f.Text("divergence_topic", "what the answers differ about", "divergence", "topic_of_divergence"),
        _significance("how much it matters; DIVERGENT and CONTRADICTORY only"),
        *GROUNDS,
        f.Object(
            "judge_metadata",
            "cost of the judge's verdict; null: it was not asked",
            "judge_usage",
            "usage",
            "metadata",
            of=JUDGE_METADATA,
        ),
        f.List("checks", "further verdicts of the same judge on the same pair", of=CHECK, column=""),
    ),
    about=(
        "One record per unordered pair of handbooks; N handbooks give N(N-1)/2. Also accepted as one long table "
        "`comparisons.csv` (or `.jsonl`, `.parquet`, ...) with a `question_id` in every row."
    ),
    files=("comparisons", "pairs", "judgements", "judgments"),
    counted=f.count("pairs", "", "comparisons"),
    check=_check_pair,
    table="pairs",
    columns=OF_PAIR
    | {"prescreened": "boolean not null", "latency_s": "float", **dict.fromkeys(f.field_names(JUDGE_READING), "")},
)
COMPARISON = RecordKind(
    "comparison",
    (
        f.Text("question_id", "the question's id (the file's name when left out)", "qid", "question_key", "id", names=True),
        f.Texts("handbooks", "the N handbooks asked, in the matrix's order", "handbook_ids", "sources", names=True),
        f.Matrix("matrix", "N x N label codes 0..4, diagonal 1, null where unscored", "label_matrix"),
        f.List(
            "pairs",
            "one record per unordered pair of handbooks",
            "comparisons",
            "judgements",
            "judgments",
            required=True,
            of=PAIR,
        ),
    ),
    about=(
        "One object per question, `comparisons/<question_id>.json`. `matrix` may be left out; where it is there, it is "
        "held against the pairs, and the pairs count."
    ),
)

# -- verdicts after those of the run -----------------------------------------------------------------------------------


def _same_verdict(record: Record) -> tuple[object, ...]:
    couple = sorted((record["handbook_a"], record["handbook_b"]))
    return (record["question"], *couple, *(record[name] for name in ("kind", "judge", "round", "number")))


FURTHER_VERDICT = RecordKind(
    "further_verdict",
    (
        f.QUESTION_ID,
        f.Text("handbook_a", "one handbook of the pair", "a", required=True, names=True),
        f.Text("handbook_b", "the other", "b", required=True, names=True),
        f.Text("kind", "second: of another judge; recheck: asked again at a later date", required=True, terms=f.FURTHER_KIND),
        f.Integer("round", "recheck: which time the same pairs were asked again, from 1", default=1, least=1),
        f.Integer("number", "recheck: each pair is asked twice a time, 1 and 2; the difference is chance", default=1, least=1),
        f.Text("label", "the label; null: unscored", *CLASSIFICATION_ALIASES[1:], "classification", terms=f.LABEL, strict=True),
        f.Text("reasoning", "the reason for it", "rationale", "reason"),
        f.Word("unscored_reason", "why there is no label, as a short code that recurs"),
        f.Word("judge", "who judged: the name of the model", "model", required=True, names=True),
        f.Word("revision", "what the server says of the model that replied"),
        f.Word("date", "the day, as 2026-11-28"),
        f.Text("prompt", "in the first verdict of a judge and time: the prompt in full, its name in the first line"),
    ),
    about=(
        "Optional: verdicts after those of the run, which keep their place. `second`: another judge read pairs that disagree, "
        "unscored pairs and a random sample of the others; with the counts of the run that sample speaks of all pairs. "
        "`recheck`: the same pairs, drawn once, are asked again later. `audit judge --second-judge` and `--recheck` write them."
    ),
    files=("further_verdicts",),
    counted=f.count("further_verdicts", "further verdicts"),
    ids=("question", "handbook_a", "handbook_b"),
    unique=_same_verdict,
    same=f"a verdict of '{{judge}}' on this pair {EARLIER}",
    table="further_verdicts",
)

# -- within one handbook -------------------------------------------------------------------------------------------

PLACE = RecordKind(
    "place",
    (
        f.Integer(
            "position",
            "places with the same number agree, those with different numbers do not",
            required=True,
            empty="field 'position' of a place is empty.",
        ),
        f.Text("text", "the passage, with the lines that introduce it", "quote", "statement", required=True),
        f.Text("value", "the amount that it states, as written"),
        f.Text("section_id", "the section that contains it", "section", names=True),
        f.Integer("start", "its first character in the section's text, from 0"),
        f.Integer("end", "the character after its last"),
        f.Integer("page", "its page, counted from 1"),
    ),
    table="inconsistency_places",
    columns={"number": "integer not null", "place": "integer not null"},
)


def _check_inconsistency(raw: Record, values: Record, repairs: Repairs) -> None:
    places = [PLACE.read(entry, repairs) for entry in values["places"]]
    if len({place["position"] for place in places}) < 2:
        raise Reject("too_few_places", "it needs places with at least two different positions.")
    values["places"] = places
    _check_significance(raw, values, repairs)


INCONSISTENCY = RecordKind(
    "inconsistency",
    (
        f.Text("handbook_id", "the handbook that disagrees with itself", *HANDBOOK_ALIASES, required=True, names=True),
        _label("how the places relate", required=True),
        f.List(
            "places", "the conflicting places: at least two, with at least two positions", "passages", required=True, of=PLACE
        ),
        f.Text("question_id", "the question that the places answer; null: they were found without one", "qid", names=True),
        _significance("how much it matters"),
        f.Text("divergence_topic", "what the places differ about", "divergence", "topic"),
        f.Text("reasoning", "the judge's reason", "rationale", "explanation", "reason"),
        f.Text("judge", "who compared the places: the name of a model", names=True),
    ),
    about=(
        "Optional: one record for each thing that one handbook states in two or more ways, with every place where it "
        'does. Places with one `position` say the same ("100.4 °F" on pages 5 and 18), those with another something else '
        '("101.4 °F" on page 40). Only DIVERGENT and CONTRADICTORY records are shown. `start` and `end` are characters of '
        "the section's text in `sections.jsonl`."
    ),
    files=("within_handbook",),
    check=_check_inconsistency,
    ids=("handbook", "question"),
    table="inconsistencies",
    columns={"number": "integer primary key", "question": "integer"},
)
NOT_COMPARED = "field 'compared' or 'disagreeing' is empty, so it is unknown what was compared."
SELF_COMPARISON = RecordKind(
    "self_comparison",
    (
        f.Text("handbook_id", "the handbook that was compared with itself", *HANDBOOK_ALIASES, required=True, names=True),
        f.Integer("compared", "pairs of passages with a verdict", required=True, empty=NOT_COMPARED),
        f.Integer("disagreeing", "those of them that are divergent or contradictory", required=True, empty=NOT_COMPARED),
        f.Text("judge", "who compared them: the name of a model", names=True),
        f.Integer("statements", "statements that were read"),
        f.Integer("agreeing", "pairs in different places whose statements have the same words; no judge was asked about them"),
        f.Integer("unscored", "pairs without a verdict: an unreadable reply"),
        f.Integer("not_asked", "pairs that the judge was not asked about"),
    ),
    about=(
        "Optional: one record per handbook that was compared with itself. A handbook without a record was *not compared*, "
        "which is not the same as no disagreement; pairs without a verdict and pairs that were not judged are counted "
        "separately, and never as agreement."
    ),
    files=("within_handbook_counts",),
    ids=("handbook",),
    unique=("handbook",),
    same=f"counts of '{{handbook_id}}' {EARLIER.replace('occurs', 'occur')}",
    table="self_comparisons",
    columns={"handbook": "smallint primary key"},
)

# -- themes --------------------------------------------------------------------------------------------------------


def _named_by(record: Record, values: Record, _: Repairs) -> None:
    value = record.get("named_by")
    values["named_by"] = None if value is None else str(value)


THEME = RecordKind(
    "theme",
    (
        f.Text("theme_id", "unique id; names and curation refer to it", "id", "cluster_id", required=True, names=True),
        f.Text("name", "what the theme is called", "label", "title", required=True),
        f.Word("parent_id", "the theme above it; null at the top", "parent", names=True),
        f.Phrases("topics", "its divergence topics, as the pairs have them", "divergence_topics", "phrases", "members"),
        f.Phrases("terms", "words that distinguish it", "keywords"),
        f.Text("medoid", "its most central phrase"),
        f.Phrases("exemplars", "phrases that span it; new phrases are compared with them", "examples"),
    ),
    about=(
        'Optional: `{"themes": [...]}`, or any other table of such records: the taxonomy of the divergence topics, used as '
        "it is. A theme that others name as their parent groups them and by habit holds no topic of its own; a topic is in "
        "one theme only (the first that names it), and a topic in none has no theme. `audit themes build` writes such a "
        "file, with how it came about (`built`), what it holds (`counts`), the phrases without a theme (`no_theme`), its map "
        "(`map`: `themes.parquet` beside it with phrase, x and y) and its own `sha256`, by which `audit themes assign` "
        "checks that it is unchanged."
    ),
    files=("themes",),
    whole=_named_by,
    same="theme_id '{theme_id}' occurs earlier; the first theme was kept.",
    table="themes",
    columns={"theme_id": "varchar primary key", "named_by": "varchar", "topics": ""},
)
