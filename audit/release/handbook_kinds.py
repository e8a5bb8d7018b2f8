"""Handbooks, questions, answers, sections, trials of retrieval, and the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.release import record_kind as f
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import AS_JSON, Reject, Repairs, object_value
from audit.vocabulary import AND_MORE, GENERAL, NOT_ADDRESSED, says_absence, says_absence_and_more

# The names that servers use, and that earlier versions of this software wrote in answers
SERVER_NAMES = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "latency_s": "seconds"}
HANDBOOK_ALIASES = ("handbook", "source_id")

HANDBOOK = RecordKind(
    "handbook",
    (
        f.Text("handbook_id", "unique id, by convention organ_center_phase", "id", *HANDBOOK_ALIASES, required=True, names=True),
        f.Text("organ", "organ the handbook is about", "organ_type", required=True, names=True),
        f.Text(
            "center", "institution that wrote it", "centre", "institution", "institute", "hospital", required=True, names=True
        ),
        f.Text("phase", "part of the journey it covers", "stage", terms=f.PHASE, strict=True, default="combined"),
        f.Text("title", "title as printed", strict=True),
        f.Text("url", "where it was found", "link", strict=True),
        f.Texts("aliases", "other names of the center, which blinded texts mask", "other_names", "alias"),
        f.Integer("pages", "number of pages", "n_pages", "page_count"),
        f.Integer("silent_pages", "pages that are pictures without text: their content is missing"),
        f.Number("unreadable", "share, 0 to 1, of its words that are unreadable"),
        f.Text("language", "ISO 639 code of its language, such as en"),
        f.Text("digest", "sha256 of the file that its text was taken from, by which a local copy is found", "sha256"),
        f.Object(
            "extraction",
            "how its text was read from that file: doubts (objects with kind, quote and pages: where the text may say something "
            "else), corrections by people (digest, applied, missed); left out: unknown",
        ),
        f.Text("licence", "licence of that file, as it should be cited", "license"),
        f.Flag(
            "may_be_downloaded", "whether that licence allows offering the file itself to readers; left out: no", default=False
        ),
        f.Text("edition", "which edition it is, such as 2024-05 or the third", "version", "edition_date"),
        f.Text("edition_of", "id that all editions of one handbook share; left out: its handbook_id", names=True),
    ),
    about="One record per source document. Handbooks are numbered in file order.",
    files=("handbooks", "sources"),
    counted=f.count("handbooks"),
    numbers="handbook",
    same=f"handbook_id '{{handbook_id}}' {EARLIER}",
    table="handbooks",
)


def _check_question(raw: Record, values: Record, repairs: Repairs) -> None:
    organ = (values["organ"] or "").strip()
    if "organ" in raw and not organ:
        repairs.append(f"field 'organ' is empty. The question was loaded with '{GENERAL}'.")
    values["organ"] = organ or GENERAL


QUESTION = RecordKind(
    "question",
    (
        f.Text("question_id", "unique id", "id", "qid", "question_key", required=True, names=True),
        f.Text("question", "the question as a patient asks it", "text", "question_text", required=True),
        f.Text("organ", "organ it concerns; left out: general", "organ_type", strict=True, names=True),
        f.Texts("topics", "1..n topics", "topic", "categories", "category", names=True),
        f.Texts("subtopics", "0..n subtopics", "subtopic", "subcategories", "subcategory", names=True),
        f.Text("source", "where the question comes from", strict=True),
    ),
    about="One record per patient question.",
    files=("questions",),
    counted=f.count("questions"),
    check=_check_question,
    numbers="question",
    same=f"question_id '{{question_id}}' {EARLIER}",
    table="questions",
    # `question` is the row number in every table of the store; topics have tables of their own
    columns={
        "question": "integer primary key",
        "text": "varchar not null",
        "organ": "varchar not null",
        "topics": "",
        "subtopics": "",
    },
)


def _generator_usage(value: Any, name: str) -> Record:
    usage = object_value(value, name) or {}
    return {own: usage.get(own, usage.get(server)) for own, server in SERVER_NAMES.items()}


def _check_answer(raw: Record, values: Record, repairs: Repairs) -> None:
    """Whether it is absent is taken from `absent`, or else from its text.

    It is neither (`absent` None) where the generator's reply could not be parsed, with a reason for that, and where its text says
    NOT ADDRESSED and more.
    """
    words, absent, reason = values["answer"], values["absent"], values["unread_reason"]
    if reason and not (words or "").strip():
        words = values["answer"] = None
    in_words = says_absence(words)
    unclear = absent is None and says_absence_and_more(words)
    unread = AND_MORE if unclear else readable_reason(reason, words, absent, repairs)
    # Neither present nor absent may be assumed: either would be a finding about the handbook
    if absent is None and words is None and unread is None:
        raise Reject(
            "missing_field", "it has neither an answer nor an 'absent' flag, so it is unknown whether the handbook answers."
        )
    if absent is False and in_words:
        what = f"says '{NOT_ADDRESSED}'" if (words or "").strip() else "is empty"
        repairs.append(f"it has absent: false but {what}; it was loaded as present, following the flag.")
    is_absent = None if unread else in_words if absent is None else absent
    by_words = "prefix" if (words or "").strip() else "empty"
    method = values["absence_method"] or (by_words if in_words else "stated")
    values |= {"absent": is_absent, "absence_method": method if is_absent else None, "unread_reason": unread}
    values |= _search_of(values["retrieval"] or {})


def _search_of(retrieval: Mapping[str, Any]) -> Record:
    mode, url, listed = retrieval.get("mode"), retrieval.get("url"), retrieval.get("sections") or []
    return {
        "mode": None if mode is None else str(mode),
        "url": None if url is None else str(url),
        "sections": [str(section) for section in listed] if isinstance(listed, list) else [str(listed)],
        "passages": retrieval.get("passages"),
        "retrieval": AS_JSON(retrieval) if retrieval else None,
    }


def readable_reason(reason: str | None, words: str | None, without: bool | None, repairs: Repairs) -> str | None:
    """Why a reply could not be parsed; dropped if there is a parsed answer, or a parsed absence or refusal."""
    if reason and (words is not None or without):
        repairs.append(f"unread_reason '{reason[:80]}' on an answer that was parsed. The answer was loaded without it.")
        return None
    return reason


USAGE = RecordKind("usage", f.JUDGE_USAGE, about="Tokens and time; the names must be spelled as shown.")
# No kind of the format: in an answer, servers may spell the same things otherwise
GENERATOR_USAGE = RecordKind("generator_usage", f.JUDGE_USAGE)
# What else the page *Answer* shows of an answer
SEARCH = """

`retrieval` may hold anything; the page *Answer* shows what it finds under these names, all of them optional:

* `strategy`, `mode`, `reason`, `seconds`: the search strategy; `passages`, `full_document` or `full_document_fallback`; why it
  fell back; CPU seconds
* `sections`: titles of the sections touched; `queries`: the wordings that were searched for
* `passages`: `[{"passage": 1, "section_id": "s00012", "start": 0, "end": 812, "origin": "parent", "score": 0.03, "retrievers":
  {"dense": {"rank": 1, "score": 0.7}}}]`, places in the text of a section of `sections.jsonl`, in characters from 0, best first;
  `origin` is `hit`, `parent`, `neighbour` or `document`
* `layers`: `[{"layer": "dense", "kept": 20, "top": [{"section_id": "s00012", "score": 0.7}]}, {"layer": "reranked", "skipped":
  "no reranker was given"}]`, in the order in which they ran
* `citations`: `[{"passage": 1, "section_id": "s00012", "known": true, "page": 35, "quote": "Call us before you travel.",
  "quote_start": 120, "quote_end": 146}]`, what the answer cites, one entry per passage and statement; `known` false: it was not
  among what was given. `quote` is the statement that the answer rests on, `quote_start` and `quote_end` its place in the text of
  the section (null: the heading is quoted), `page` the page on which it begins. `start` and `end`, where a release has them, are
  the part of the answer that the citation supports"""
ANSWER = RecordKind(
    "answer",
    (
        f.QUESTION_ID,
        f.Text("handbook_id", "the handbook asked", *HANDBOOK_ALIASES, required=True, names=True),
        f.Text("answer", "the answer's text", "answer_text", "response", "text", strict=True),
        f.Flag("absent", "the handbook does not address the question", "is_absent", "not_addressed", strict=True),
        f.Text("absence_method", "how that was found: prefix, check, ...", "absent_method", "absence_source", strict=True),
        f.Text(
            "found",
            "of passages that a search quotes and no model has read: how surely they answer. not found: absent is true; perhaps: "
            "absent is false; left out: a model or a person answered",
            terms=f.FOUND,
        ),
        f.Word(
            "unread_reason",
            "why no answer could be read in the generator's reply; answer and absent are then null",
            "answer_reason",
            "unanswered_reason",
        ),
        f.Object("retrieval", "mode, sections[], passages[] and how they were found", "retrieval_metadata"),
        f.Object("usage", "tokens and time of the generator", "generator_metadata", of=GENERATOR_USAGE, convert=_generator_usage),
    ),
    about=(
        "One record per question and handbook. The file may be missing: the pairs are then all there is, and absence per "
        "handbook is *unknown*, not zero. When `absent` is left out, an answer is absent if it is empty or says nothing but "
        "`NOT ADDRESSED`, whatever its case and markup, or that with a reason: `NOT ADDRESSED: no passage names it.` One that "
        "says `NOT ADDRESSED` and more is loaded as neither, and counted. "
        "A question that was not put to a handbook has no record."
    )
    + SEARCH,
    files=("answers", "responses"),
    counted=f.count("answers"),
    check=_check_answer,
    ids=("question", "handbook"),
    unique=("question", "handbook"),
    same="an answer of '{handbook_id}' to '{question_id}' occurs earlier; the first was kept.",
    table="answers",
    columns={"mode": "varchar", "sections": "varchar[]", "url": "varchar", "latency_s": "float"},
)
SECTION = RecordKind(
    "section",
    (
        f.Text("handbook_id", "the handbook that contains it", *HANDBOOK_ALIASES, required=True, names=True),
        f.Text("section_id", "unique within its handbook", "id", required=True, names=True),
        f.Text("heading", "its heading", "title", default=""),
        f.Texts("above", "the headings over it, outermost first", "parents"),
        f.Text("text", "its text without the sections below it; may be empty", "body", required=True, default=""),
        f.Integers("pages", "its first and last page, counted from 1"),
        f.PageStarts(
            "page_starts", "[page, first character of its text on that page] of each page; left out: one page, or unknown"
        ),
        f.Integers("part", "[2, 5]: the second of the five parts of a section that is too long to be cited; left out: whole"),
        f.Text("url", "where it can be read", "link"),
    ),
    about=(
        "Optional: one record per section, in reading order; places of passages are characters of its `text`. A handbook "
        "may be left out, and its passages are then shown without their text."
    ),
    files=("sections",),
    ids=("handbook",),
    unique=("handbook", "section_id"),
    same=f"section_id '{{section_id}}' of '{{handbook_id}}' {EARLIER}",
    table="sections",
    columns={"place": "integer not null"},
)
TRIAL = RecordKind(
    "trial",
    (
        f.QUESTION_ID,
        f.Text("handbook_id", "the handbook searched", *HANDBOOK_ALIASES, required=True, names=True),
        f.Text("strategy", "the search strategy", "retriever", required=True, names=True),
        f.Text("mode", "passages, full_document or full_document_fallback", "retrieval_mode"),
        f.Texts("ranked", "ids of the sections found, best first", "sections", names=True),
        f.Texts("gold", "ids of the sections that contain the answer; empty: none is known", "relevant", names=True),
        f.Text("reason", "why it fell back to the full document"),
        f.Number("seconds", "CPU seconds that the search took", "seconds_cpu"),
    ),
    about=(
        "Optional: one record per question, handbook and strategy of retrieval that was tried, for the page *Retrieval*. "
        "An empty `gold` says that the location of the answer is unknown: such a trial counts in no measure."
    ),
    files=("trials",),
    ids=("question", "handbook"),
    unique=("question", "handbook", "strategy"),
    same="a trial of '{strategy}' on this question and handbook occurs earlier; the first was kept.",
    table="trials",
)
SEARCH_TRIAL = RecordKind(
    "search_trial",
    (
        f.QUESTION_ID,
        f.Text(
            "collection", "the handbook searched, or the questions' organ where handbooks were searched as one", required=True
        ),
        f.Text("comparison", "strategies, components, reranked, passages or models", required=True),
        f.Text("configuration", "name of the configuration; the first of a comparison is its comparator", required=True),
        f.Integer("passages", "passages that it takes", required=True),
        f.Texts("ranked", "ids of the sections, or of the documents, of these passages, best first, one for each", names=True),
        f.Texts("gold", "ids that contain the answer; empty: none is known", names=True),
        f.Number("seconds", "CPU seconds that the search took"),
    ),
    about=(
        "Optional: one record per question and configuration of retrieval, as `audit retrieve --ablate` writes it, for the page "
        "*Retrieval*."
    ),
    files=("search_trials",),
    ids=("question",),
    unique=("question", "collection", "comparison", "configuration"),
    same="a trial of '{configuration}' in '{comparison}' on this question occurs earlier; the first was kept.",
    table="search_trials",
)
PROMPT = RecordKind(
    "prompt",
    (
        f.Text("prompt", "name, version and digest, as records name it", required=True),
        f.Text("used_for", "judge, answers, or the command that asked"),
        f.Text("system", "the instructions, in full"),
        f.Text("user", "what follows them, in full; {name} stands for a text of the corpus"),
        f.Integer("max_tokens", "tokens of a reply, at most"),
        f.Number("temperature", "randomness of the model's words"),
        f.Object("schema", "the JSON Schema that replies must follow"),
    ),
    about="A prompt in full: a digest alone lets nobody read what a model was asked.",
)
MANIFEST_FIELDS = (
    f.Text("run_id", "short name of the run", names=True),
    f.Text("title", "what a page calls it"),
    f.Text("generator", "what wrote the answers"),
    f.Object(
        "generator_errors",
        "how often the generator errs, measured elsewhere: missed, of answered (not found though the handbook answers), found, "
        "of unanswered (found though it does not), source, date",
    ),
    f.Text("judge", "what judged the pairs", names=True),
    f.Text("retriever", "what chose the sections"),
    f.Text("date", "when the run was made"),
    f.Text("licence", "terms of use", "license"),
    f.Flag("synthetic", "the texts are synthetic; every page then says so"),
    f.Text("raters", "who gave the ratings that the release brings, such as: two transplant nurses"),
    f.Text("raters_are", "what they are; left out: unknown, and no page calls them people", terms=f.RATERS),
    f.Object("judge_settings", "how the judge was set up: protocol, prompts, server, ..."),
    f.List("prompts", "the full texts of the prompts that made it", of=PROMPT),
    f.Object("terms", "display words for handbook, organ, center, patient, ...; an odd plural as handbooks, organs"),
    f.Text(
        "asked",
        "which questions are put to which handbooks; organ: those of its organ, general ones to all",
        terms=f.Terms(("all", "organ")),
    ),
    f.Object("datasheet", "statements of its makers, by part: motivation, composition, collection, preprocessing, uses, ..."),
    f.Number("gpu_hours", "GPU hours used by the models, in total"),
    f.Integer("pairs_judged", "declared count of pairs the judge was asked", "judged", "n_judged"),
)
