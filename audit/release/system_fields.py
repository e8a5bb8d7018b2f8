"""The fields of answering systems: their answers, reference answers, scores on the eight criteria, preferences and measures."""

from __future__ import annotations

from audit.evaluation.criteria import CRITERIA
from audit.release.fields import JUDGE_USAGE, PARSE, QUESTION_ID, Field
from audit.vocabulary import PREFERENCES, RATER_KINDS, SIDES, SYSTEM_MODES

SYSTEM_ID = Field("system_id", "text", "the system's id", required=True, aliases=("system",))
SYSTEM = (
    Field("system_id", "text", "unique id; reference is reserved", required=True, aliases=("id", "system")),
    Field("name", "text", "what a page calls it", aliases=("title", "label")),
    Field("model", "text", "the language model", aliases=("llm", "model_name")),
    Field(
        "mode", "text", "what it answered from: the model alone, passages found for the question, several sources, ...",
        aliases=("kind",), allowed=tuple(SYSTEM_MODES),
    ),
    Field("retriever", "text", "what found its passages", aliases=("strategy",)),
    Field("settings", "object", "temperature, max_tokens and the like", aliases=("parameters",)),
    Field("description", "text", "what else is worth knowing", aliases=("about",)),
)  # fmt: skip
REFERENCE = (
    QUESTION_ID,
    Field(
        "answers", "texts", "reference answers, the first of which the metrics use",
        aliases=("reference_answers", "reference_answer", "references", "reference", "answer"),
    ),
    Field("question_type", "text", "one type per question, such as treatment", aliases=("type", "qtype")),
    Field("gold_sections", "texts", "ids of the sections that contain the answer", aliases=("gold", "relevant")),
    Field("url", "text", "where the reference answer can be read", aliases=("link", "document_url")),
    Field("primary_source", "text", "the source to ask first", aliases=("primary",)),
    Field("required_sources", "texts", "the sources that a complete answer needs", aliases=("required",)),
)  # fmt: skip
EVIDENCE = (
    Field("handbook_id", "text", "the handbook it is from", aliases=("handbook", "source_id")),
    Field("section_id", "text", "its section there", aliases=("section", "doc_id", "id")),
    Field("rank", "integer", "its rank, from 1; left out: its place in the list", aliases=("position",)),
    Field("score", "number", "the retriever's score"),
    Field("text", "text", "its text, where the release has no sections", aliases=("passage",)),
)
USAGE = JUDGE_USAGE
SYSTEM_ANSWER = (
    QUESTION_ID,
    SYSTEM_ID,
    Field("answer", "text", "the answer's text", aliases=("answer_text", "response", "text")),
    Field("refused", "flag", "the system declined to answer", aliases=("is_refusal", "refusal")),
    Field(
        "unread_reason", "text", "why no answer could be read in the system's reply; answer and refused are then null",
        aliases=("answer_reason", "unanswered_reason"),
    ),
    Field("evidence", "evidence", "the passages that the system was given, best first", aliases=("passages", "retrieved")),
    Field("citations", "objects", "what the answer cites, as in `retrieval` of an answer"),
    Field("usage", "usage", "tokens and time", aliases=("generator_metadata",)),
)  # fmt: skip
# Names of the criteria in other people's files
CRITERION_ALIASES = {"extent_of_harm": ("extent_harm",), "likelihood_of_harm": ("likelihood_harm",)}
CRITERIA_SCORES = (
    QUESTION_ID,
    Field(
        "system_id", "text", "the system whose answer was judged; reference: the reference answer", required=True,
        aliases=("system",),
    ),
    Field("judge", "text", "who judged: a model or a person", aliases=("rater",)),
    *(
        Field(
            name.value, "integer", f"{scale.heading}, an integer from {scale.worst} to {scale.best}; null: could not be read",
            aliases=CRITERION_ALIASES.get(name, ()), allowed=scale.scores,
        )
        for name, scale in CRITERIA.items()
    ),
    Field("explanations", "object", "criterion -> the judge's reason", aliases=("reasons",)),
    PARSE,
    Field("unscored_reason", "text", "why a score is missing, as a short code that recurs"),
    Field("usage", "usage", "tokens and time of the judge", aliases=("judge_usage", "judge_metadata")),
)  # fmt: skip
PREFERENCE = (
    QUESTION_ID,
    Field("system_a", "text", "the id of one system", required=True, aliases=("a",)),
    Field("system_b", "text", "the id of the other", required=True, aliases=("b",)),
    Field(
        "preference", "text", "whose answer is better", required=True, aliases=("choice", "winner"), allowed=tuple(PREFERENCES)
    ),
    Field("rater", "text", "who compared them", aliases=("annotator", "judge")),
    Field("rater_kind", "text", "human or judge; left out: human", aliases=("kind",), allowed=tuple(RATER_KINDS)),
    Field("shown_first", "text", "which answer was shown first; null: unknown", aliases=("first",), allowed=tuple(SIDES)),
    Field("comment", "text", "the rater's comment", aliases=("note", "rationale")),
)
MEASURE = (
    QUESTION_ID,
    SYSTEM_ID,
    Field(
        "measure",
        "text",
        "such as bleu_4, rouge_l, bertscore, p_at_5, mrr or faithfulness",
        required=True,
        aliases=("metric", "name"),
    ),
    Field("value", "number", "its value for this answer", required=True, aliases=("score",)),
)
