"""The fields of handbooks, questions, answers, sections, retrieval trials and the manifest."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.vocabulary import PHASES

HANDBOOK = (
    Field(
        "handbook_id",
        "text",
        "unique id, by convention organ_center_phase",
        required=True,
        aliases=("id", "handbook", "source_id"),
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
    Field("licence", "text", "licence of that file, as it should be cited", aliases=("license",)),
    Field("may_be_downloaded", "flag", "whether that licence allows offering the file itself to readers; left out: no"),
    Field("silent_pages", "integer", "pages that are pictures without text: their content is missing"),
    Field("unreadable", "number", "share, 0 to 1, of its words that are unreadable"),
    Field("language", "text", "ISO 639 code of its language, such as en"),
    Field("edition", "text", "which edition it is, such as 2024-05 or the third", aliases=("version", "edition_date")),
    Field("edition_of", "text", "id that all editions of one handbook share; left out: its handbook_id"),
)
QUESTION = (
    Field("question_id", "text", "unique id", required=True, aliases=("id", "qid", "question_key")),
    Field("question", "text", "the question as a patient asks it", required=True, aliases=("text", "question_text")),
    Field("organ", "text", "organ it concerns; left out: general", aliases=("organ_type",)),
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
    Field("strategy", "text", "the search strategy", required=True, aliases=("retriever",)),
    Field("mode", "text", "passages, full_document or full_document_fallback", aliases=("retrieval_mode",)),
    Field("ranked", "texts", "ids of the sections found, best first", aliases=("sections",)),
    Field("gold", "texts", "ids of the sections that contain the answer; empty: none is known", aliases=("relevant",)),
    Field("reason", "text", "why it fell back to the full document"),
    Field("seconds", "number", "CPU seconds that the search took", aliases=("seconds_cpu",)),
)
MANIFEST = (
    Field("run_id", "text", "short name of the run"),
    Field("title", "text", "what a page calls it"),
    Field("generator", "text", "what wrote the answers"),
    Field("judge", "text", "what judged the pairs"),
    Field("retriever", "text", "what chose the sections"),
    Field("date", "text", "when the run was made"),
    Field("licence", "text", "terms of use", aliases=("license",)),
    Field("synthetic", "flag", "the texts are synthetic; every page then says so"),
    Field("raters", "text", "who gave the ratings that the release brings, such as: two transplant nurses"),
    Field("judge_settings", "object", "how the judge was set up: protocol, prompts, server, ..."),
    Field("terms", "object", "display words for handbook, organ, center, patient, ...; an odd plural as handbooks, organs"),
    Field(
        "asked",
        "text",
        "which questions are put to which handbooks; organ: those of its organ, general ones to all",
        allowed=("all", "organ"),
    ),
    Field(
        "datasheet", "object", "statements of its makers, by part: motivation, composition, collection, preprocessing, uses, ..."
    ),
    Field("gpu_hours", "number", "GPU hours used by the models, in total"),
    Field("handbooks", "integer", "declared count", aliases=("n_handbooks",)),
    Field("questions", "integer", "declared count", aliases=("n_questions",)),
    Field("answers", "integer", "declared count", aliases=("n_answers",)),
    Field("pairs", "integer", "declared count", aliases=("n_pairs", "comparisons")),
    Field("pairs_judged", "integer", "declared count of pairs the judge was asked", aliases=("judged", "n_judged")),
    Field("systems", "integer", "declared count", aliases=("n_systems",)),
    Field("references", "integer", "declared count of questions in references", aliases=("n_references",)),
    Field("system_answers", "integer", "declared count", aliases=("n_system_answers",)),
    Field("criteria", "integer", "declared count of answers judged on the eight criteria", aliases=("n_criteria",)),
    Field("preferences", "integer", "declared count", aliases=("n_preferences",)),
    Field("measures", "integer", "declared count", aliases=("n_measures",)),
    Field("planted", "integer", "declared count of planted changes", aliases=("n_planted",)),
    Field("positions", "integer", "declared count of positions on questions", aliases=("n_positions",)),
    Field("human_ratings", "integer", "declared count of pairs that raters labelled", aliases=("n_human_ratings",)),
    Field("sources", "integer", "declared count of groups of handbooks", aliases=("n_sources",)),
    Field("routes", "integer", "declared count of questions that a system routed to sources", aliases=("n_routes",)),
)
