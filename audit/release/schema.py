"""The release format as data: every record, its fields, their types and their aliases.

The reader, the JSON Schema that others validate against (`audit schema`, data/release.schema.json) and the
tables of data/README.md all come from `KINDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from audit.vocabulary import CHECK_KINDS, LABELS, PARSES, PHASES, SIGNIFICANCES, plain


@dataclass(frozen=True)
class Field:
    """One field of a record. `type` is one of the keys of `JSON_TYPES`."""

    name: str
    type: str
    meaning: str
    required: bool = False
    aliases: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": ["string", "null"]},
    "flag": {"type": ["boolean", "null"]},
    "integer": {"type": ["integer", "null"]},
    "number": {"type": ["number", "null"]},
    "texts": {"type": ["array", "null"], "items": {"type": "string"}},
    "integers": {"type": ["array", "null"], "items": {"type": "integer"}},
    "page starts": {
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
    },
    "object": {"type": ["object", "null"]},
    "matrix": {
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": ["integer", "null"], "minimum": 0, "maximum": 4}},
    },
    "pairs": {"type": "array", "items": {"$ref": "#/$defs/pair"}},
    "judging": {"anyOf": [{"$ref": "#/$defs/judge_metadata"}, {"type": "null"}]},
    "checks": {"type": ["array", "null"], "items": {"$ref": "#/$defs/check"}},
    "places": {"type": "array", "items": {"$ref": "#/$defs/place"}},
}

QUESTION_ID = Field("question_id", "text", "the question's id", required=True, aliases=("qid", "question_key"))

HANDBOOK = (
    Field(
        "handbook_id", "text", "unique id, by habit organ_center_phase", required=True, aliases=("id", "handbook", "source_id")
    ),
    Field("organ", "text", "organ the handbook is about", required=True, aliases=("organ_type",)),
    Field(
        "center", "text", "institution that wrote it", required=True, aliases=("centre", "institution", "institute", "hospital")
    ),
    Field("phase", "text", "part of the journey it covers", aliases=("stage",), allowed=tuple(PHASES)),
    Field("title", "text", "title as printed"),
    Field("url", "text", "where it was found", aliases=("link",)),
    Field("aliases", "texts", "other names of the center, which blinded texts mask", aliases=("other_names", "alias")),
    Field("pages", "integer", "number of pages", aliases=("n_pages", "page_count")),
    Field(
        "digest", "text", "sha256 of the file that its text was taken from, by which a local copy is found", aliases=("sha256",)
    ),
    Field("licence", "text", "licence of that file, as it is to be named", aliases=("license",)),
    Field("may_be_downloaded", "flag", "whether that licence allows offering the file itself to readers; left out: no"),
    Field("silent_pages", "integer", "pages that are pictures without text: what they say is missing"),
    Field("unreadable", "number", "share, 0 to 1, of its words that are not readable text"),
    Field("language", "text", "ISO 639 code of its language, such as en"),
)
QUESTION = (
    Field("question_id", "text", "unique id", required=True, aliases=("id", "qid", "question_key")),
    Field("question", "text", "the question as a patient asks it", required=True, aliases=("text", "question_text")),
    Field("organ", "text", "organ it concerns, or general", required=True, aliases=("organ_type",)),
    Field("topics", "texts", "1..n topics", aliases=("topic", "categories", "category")),
    Field("subtopics", "texts", "0..n subtopics", aliases=("subtopic", "subcategories", "subcategory")),
    Field("source", "text", "where the question comes from"),
)
ANSWER = (
    QUESTION_ID,
    Field("handbook_id", "text", "the handbook asked", required=True, aliases=("handbook", "source_id")),
    Field("answer", "text", "the answer's text", aliases=("answer_text", "response", "text")),
    Field("absent", "flag", "the handbook does not address the question", aliases=("is_absent", "not_addressed")),
    Field("absence_method", "text", "how that was found: prefix, check, ...", aliases=("absent_method", "absence_source")),
    Field(
        "unread_reason", "text", "why no answer could be read in the generator's reply; answer and absent are then null",
        aliases=("answer_reason", "unanswered_reason"),
    ),
    Field("retrieval", "object", "mode, sections[], passages[] and how they were found", aliases=("retrieval_metadata",)),
    Field("usage", "object", "tokens and time of the generator", aliases=("generator_metadata",)),
)  # fmt: skip
SECTION = (
    Field("handbook_id", "text", "the handbook that contains it", required=True, aliases=("handbook", "source_id")),
    Field("section_id", "text", "unique within its handbook", required=True, aliases=("id",)),
    Field("text", "text", "its text without the sections below it; may be empty", required=True, aliases=("body",)),
    Field("heading", "text", "its heading", aliases=("title",)),
    Field("above", "texts", "the headings over it, outermost first", aliases=("parents",)),
    Field("pages", "integers", "its first and last page, counted from 1"),
    Field(
        "page_starts",
        "page starts",
        "[page, first character of its text on that page] of each page; left out: one page, or unknown",
    ),
    Field("url", "text", "where it can be read", aliases=("link",)),
)
TRIAL = (
    QUESTION_ID,
    Field("handbook_id", "text", "the handbook searched", required=True, aliases=("handbook", "source_id")),
    Field("strategy", "text", "the way of searching", required=True, aliases=("retriever",)),
    Field("mode", "text", "passages, full_document or full_document_fallback", aliases=("retrieval_mode",)),
    Field("ranked", "texts", "ids of the sections found, best first", aliases=("sections",)),
    Field("gold", "texts", "ids of the sections that contain the answer; empty: none is known", aliases=("relevant",)),
    Field("reason", "text", "why it fell back to the whole document"),
    Field("seconds", "number", "CPU seconds that the search took", aliases=("seconds_cpu",)),
)
PARSE = Field("parse", "text", "how the judge's reply was read; rules: no model was asked", allowed=tuple(PARSES))
JUDGE_USAGE = (
    Field("input_tokens", "integer", "tokens of the prompt"),
    Field("output_tokens", "integer", "tokens of the reply"),
    Field("latency_s", "number", "seconds until the reply was there"),
)
JUDGE_READING = (
    PARSE,
    Field("unscored_reason", "text", "why there is no label, as a short code that recurs"),
    Field("cached_tokens", "integer", "tokens of the prompt that the server had in its cache"),
    Field("prompt", "text", "digest of the prompt's template"),
)
JUDGE_METADATA = (*JUDGE_USAGE, *JUDGE_READING)
CLASSIFICATION = ("label", "verdict", "judgement", "judgment")
SIGNIFICANCE = ("significance", "severity")
CHECK = (
    Field(
        "kind", "text", "swap: the answers in the other order; blind: without the names of centers; repeat: the same once more",
        required=True, allowed=tuple(CHECK_KINDS),
    ),
    Field("number", "integer", "tells checks of one kind apart; counted when left out", aliases=("no", "index")),
    Field("classification", "text", "the label given this time; null: unscored", aliases=CLASSIFICATION, allowed=tuple(LABELS)),
    Field(
        "clinical_significance", "text", "the significance given this time; DIVERGENT and CONTRADICTORY only",
        aliases=SIGNIFICANCE, allowed=tuple(SIGNIFICANCES),
    ),
    PARSE,
)  # fmt: skip
PAIR = (
    Field("handbook_a", "text", "one handbook of the pair", required=True, aliases=("handbook_1", "source_a", "a")),
    Field("handbook_b", "text", "the other", required=True, aliases=("handbook_2", "source_b", "b")),
    Field(
        "classification", "text", "the judge's label; null with a trace of the judge (a reason, metadata) means unscored",
        aliases=CLASSIFICATION, allowed=tuple(LABELS),
    ),
    Field("reasoning", "text", "the judge's reason; null where it was not asked", aliases=("rationale", "explanation", "reason")),
    Field("divergence_topic", "text", "what the answers differ on", aliases=("divergence", "topic_of_divergence")),
    Field(
        "clinical_significance", "text", "how much it matters; DIVERGENT and CONTRADICTORY only",
        aliases=SIGNIFICANCE, allowed=tuple(SIGNIFICANCES),
    ),
    Field(
        "judge_metadata", "judging", "what asking the judge took; null: it was not asked",
        aliases=("judge_usage", "usage", "metadata"),
    ),
    Field("checks", "checks", "further verdicts of the same judge on the same pair"),
)  # fmt: skip
COMPARISON = (
    Field("question_id", "text", "the question's id (the file's name when left out)", aliases=("qid", "question_key", "id")),
    Field("handbooks", "texts", "the N handbooks asked, in the matrix's order", aliases=("handbook_ids", "sources")),
    Field("matrix", "matrix", "N x N label codes 0..4, diagonal 1, null where unscored", aliases=("label_matrix",)),
    Field(
        "pairs",
        "pairs",
        "one record per unordered pair of handbooks",
        required=True,
        aliases=("comparisons", "judgements", "judgments"),
    ),
)
PLACE = (
    Field("position", "integer", "places with one number say the same, those with another something else", required=True),
    Field("text", "text", "the statement, with the lines that introduce it", required=True, aliases=("quote", "statement")),
    Field("value", "text", "the amount that it states, as written"),
    Field("section_id", "text", "the section that contains it", aliases=("section",)),
    Field("start", "integer", "its first character in the section's text, from 0"),
    Field("end", "integer", "the character after its last"),
    Field("page", "integer", "its page, counted from 1"),
)
INCONSISTENCY = (
    Field("handbook_id", "text", "the handbook that disagrees with itself", required=True, aliases=("handbook", "source_id")),
    Field("classification", "text", "how the places relate", required=True, aliases=CLASSIFICATION, allowed=tuple(LABELS)),
    Field(
        "places", "places", "where it says what: at least two, with at least two positions", required=True, aliases=("passages",)
    ),
    Field("question_id", "text", "the question that the places answer; null: they were found without one", aliases=("qid",)),
    Field("clinical_significance", "text", "how much it matters", aliases=SIGNIFICANCE, allowed=tuple(SIGNIFICANCES)),
    Field("divergence_topic", "text", "what the places differ on", aliases=("divergence", "topic")),
    Field("reasoning", "text", "the judge's reason", aliases=("rationale", "explanation", "reason")),
    Field("judge", "text", "who compared the places: a model, or rules"),
)
SELF_COMPARISON = (
    Field("handbook_id", "text", "the handbook that was compared with itself", required=True, aliases=("handbook", "source_id")),
    Field("compared", "integer", "pairs of statements with a verdict", required=True),
    Field("disagreeing", "integer", "those of them that are divergent or contradictory", required=True),
    Field("judge", "text", "who compared them: a model, or rules"),
    Field("statements", "integer", "statements that were read"),
    Field(
        "agreeing", "integer", "pairs of statements in different places that state the same value; nobody was asked about them"
    ),
    Field("unscored", "integer", "pairs without a verdict: an unreadable reply, or rules that could not tell"),
    Field("not_asked", "integer", "pairs that the judge was not asked about"),
)
MANIFEST = (
    Field("run_id", "text", "short name of the run"),
    Field("title", "text", "what a page calls it"),
    Field("generator", "text", "what wrote the answers"),
    Field("judge", "text", "what judged the pairs"),
    Field("retriever", "text", "what chose the sections"),
    Field("date", "text", "when the run was made"),
    Field("licence", "text", "terms of use", aliases=("license",)),
    Field("synthetic", "flag", "the texts were made up; every page then says so"),
    Field("judge_settings", "object", "how the judge was set up: protocol, prompts, server, ..."),
    Field("terms", "object", "display words for handbook, organ, center, patient, ...; an odd plural as handbooks, organs"),
    Field(
        "asked",
        "text",
        "which questions are put to which handbooks; organ: those of its organ, general ones to all",
        allowed=("all", "organ"),
    ),
    Field("handbooks", "integer", "declared count", aliases=("n_handbooks",)),
    Field("questions", "integer", "declared count", aliases=("n_questions",)),
    Field("answers", "integer", "declared count", aliases=("n_answers",)),
    Field("pairs", "integer", "declared count", aliases=("n_pairs", "comparisons")),
    Field("pairs_judged", "integer", "declared count of pairs the judge was asked", aliases=("judged", "n_judged")),
)
THEME = (
    Field("theme_id", "text", "unique id; names and curation hang on it", required=True, aliases=("id", "cluster_id")),
    Field("name", "text", "what the theme is called", required=True, aliases=("label", "title")),
    Field("parent_id", "text", "the theme above it; null at the top", aliases=("parent",)),
    Field(
        "topics", "texts", "its divergence topics, as the pairs have them", aliases=("divergence_topics", "phrases", "members")
    ),
    Field("terms", "texts", "words that set it apart", aliases=("keywords",)),
    Field("medoid", "text", "the phrase at its middle"),
    Field("exemplars", "texts", "phrases that span it; new phrases are compared with them", aliases=("examples",)),
)
KINDS: dict[str, tuple[Field, ...]] = {
    "manifest": MANIFEST, "handbook": HANDBOOK, "question": QUESTION, "answer": ANSWER, "comparison": COMPARISON, "pair": PAIR,
    "judge_metadata": JUDGE_METADATA, "check": CHECK, "theme": THEME, "section": SECTION, "trial": TRIAL,
    "inconsistency": INCONSISTENCY, "place": PLACE, "self_comparison": SELF_COMPARISON,
}  # fmt: skip


def field_names(fields: Iterable[Field]) -> tuple[str, ...]:
    """The format's own names of `fields`, in order."""
    return tuple(field.name for field in fields)


def _names(fields: Iterable[Field]) -> dict[str, str]:
    """Plain spelling of every name of every field -> the field's own name; a field's own name beats an alias."""
    names = {plain(alias): field.name for field in fields for alias in field.aliases}
    # Last, so that a field's own name wins over an alias of another field
    return names | {plain(field.name): field.name for field in fields}


NAMES: dict[str, dict[str, str]] = {kind: _names(fields) for kind, fields in KINDS.items()}


def canonical(record: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """`record` with every known field under its own name; fields the format does not know are left out.

    Where a record has a field under two names, the field's own name wins.
    """
    return {name: record[key] for name, key in _spelling(tuple(record), kind)}


def spelling(record: Mapping[str, Any], kind: str) -> dict[str, str]:
    """The field's own name -> the name that `record` uses for it, for the fields that it has."""
    return dict(_spelling(tuple(record), kind))


@lru_cache(1024)  # the records of a file have the same keys, nearly always
def _spelling(keys: tuple[str, ...], kind: str) -> tuple[tuple[str, str], ...]:
    spellings: dict[str, str] = {}
    for key in keys:
        name = NAMES[kind].get(plain(key))
        if name and (name not in spellings or key == name):
            spellings[name] = key
    return tuple(spellings.items())


def json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) with one definition per record of the format."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A release of pairwise judgements",
        "description": "Validate a manifest against #/$defs/manifest, a handbook against #/$defs/handbook, and so on.",
        "$defs": {kind: _definition(fields) for kind, fields in KINDS.items()},
        "$ref": "#/$defs/comparison",
    }


def _definition(fields: Iterable[Field]) -> dict[str, Any]:
    fields = list(fields)
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
    }


def _property(field: Field) -> dict[str, Any]:
    described = {**JSON_TYPES[field.type], "description": field.meaning}
    return {**described, "enum": [*field.allowed, None]} if field.allowed else described
