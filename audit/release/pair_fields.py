"""The fields of pairs and what belongs to them: the judge's metadata, checks, comparisons, themes, and a handbook's own pairs."""

from __future__ import annotations

from audit.release.fields import JUDGE_USAGE, PARSE, Field
from audit.vocabulary import CHECK_KINDS, LABELS, SIGNIFICANCES

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
        "kind", "text", "swap: the answers in the other order; blind: without the names of centers; repeat: unchanged",
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
    Field("divergence_topic", "text", "what the answers differ about", aliases=("divergence", "topic_of_divergence")),
    Field(
        "clinical_significance", "text", "how much it matters; DIVERGENT and CONTRADICTORY only",
        aliases=SIGNIFICANCE, allowed=tuple(SIGNIFICANCES),
    ),
    Field(
        "judge_metadata", "judging", "cost of the judge's verdict; null: it was not asked",
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
    Field("position", "integer", "places with the same number agree, those with different numbers do not", required=True),
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
        "places",
        "places",
        "the conflicting places: at least two, with at least two positions",
        required=True,
        aliases=("passages",),
    ),
    Field("question_id", "text", "the question that the places answer; null: they were found without one", aliases=("qid",)),
    Field("clinical_significance", "text", "how much it matters", aliases=SIGNIFICANCE, allowed=tuple(SIGNIFICANCES)),
    Field("divergence_topic", "text", "what the places differ about", aliases=("divergence", "topic")),
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
        "agreeing", "integer", "pairs of statements in different places that state the same value; no judge was asked about them"
    ),
    Field("unscored", "integer", "pairs without a verdict: an unreadable reply, or rules that could not decide"),
    Field("not_asked", "integer", "pairs that the judge was not asked about"),
)
THEME = (
    Field("theme_id", "text", "unique id; names and curation refer to it", required=True, aliases=("id", "cluster_id")),
    Field("name", "text", "what the theme is called", required=True, aliases=("label", "title")),
    Field("parent_id", "text", "the theme above it; null at the top", aliases=("parent",)),
    Field(
        "topics", "texts", "its divergence topics, as the pairs have them", aliases=("divergence_topics", "phrases", "members")
    ),
    Field("terms", "texts", "words that distinguish it", aliases=("keywords",)),
    Field("medoid", "text", "its most central phrase"),
    Field("exemplars", "texts", "phrases that span it; new phrases are compared with them", aliases=("examples",)),
)
