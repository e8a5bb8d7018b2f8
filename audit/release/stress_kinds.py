"""Stress tests: questions with documents that are signal, noise or altered, and systems' replies to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.release import record_kind as f
from audit.release.handbook_kinds import USAGE
from audit.release.record_kind import EARLIER, Record, RecordKind
from audit.release.values import Reject, Repairs, number, required_text, text

UNKNOWN_OPTION, NO_CHOICE = "unknown option", "no choice"
"""The unread_reason of a choice that is not an option, and of a reply without one."""
SUB_ANSWER_SCORES = (0, 0.5, 1)
MAX_DOCUMENTS = 1_000
INSTANCE_ID = f.Text("instance_id", "the instance's id", "instance", required=True, names=True)
DOCUMENT_ID = f.Text("document_id", "the document's id, unique in its instance", "document", required=True, names=True)
OF_REPLY = {"instance": "integer not null", "system": "smallint not null", "place": "smallint not null", "document_id": ""}


def _filled(value: Any, name: str) -> str | None:
    return text(value, name) or None


def _score(value: Any, name: str) -> float | None:
    score = number(value, name)
    if score is not None and score not in SUB_ANSWER_SCORES:
        raise Reject("out_of_range", f"field '{name}' is {score:g}, but must be 0, 0.5 or 1.")
    return score


STRESS_DOCUMENT = RecordKind(
    "stress_document",
    (
        DOCUMENT_ID,
        f.Text("text", "the text that a system is shown", "passage", required=True),
        f.Flag(
            "is_signal",
            "it belongs to the question; noise belongs to another one",
            "signal",
            required=True,
            empty="field 'is_signal' is empty, so it is unknown whether it is signal or noise.",
        ),
        # Strict: a document whose truth is unknown must not be counted as factual
        f.Flag("is_factual", "false: an error was planted in it; left out: true", "factual", strict=True, default=True),
        f.Text("edited_from", "the document that it is an altered copy of", convert=_filled),
        f.Object("edit", "the planted error: kind, before, after, start"),
        f.Text("sub_question", "a question that this document answers", convert=_filled),
        f.Text("sub_answer", "the right short answer to it", convert=_filled),
        f.Text("false_answer", "what the altered document says instead", convert=_filled),
    ),
    table="stress_documents",
    columns={"instance": "integer not null", "place": "smallint not null"},
)


def _check_instance(_: Record, values: Record, repairs: Repairs) -> None:
    """`options` is {} for an open question. `question` is None where the release leaves the text to questions.jsonl."""
    options = values["options"] or {}
    values["options"] = {letter: required_text(options, letter) for letter in options}
    if options and values["gold"] not in options:
        raise Reject("unknown_option", f"its gold '{values['gold']}' is not an option. Options: {', '.join(options)}.")
    values["documents"] = documents = list(_documents(values["documents"], repairs))
    if values["size"] is None:
        values["size"] = len(documents)


def _documents(entries: list[Any], repairs: Repairs) -> Iterator[Record]:
    """The documents of an instance. An unusable one rejects the instance, because its share of signal would change."""
    seen: set[str] = set()
    if len(entries) > MAX_DOCUMENTS:
        raise Reject("out_of_range", f"it has {len(entries):,} documents, but may have {MAX_DOCUMENTS:,} at most.")
    for position, entry in enumerate(entries, 1):
        try:
            document = STRESS_DOCUMENT.read(entry, repairs)
        except Reject as reject:
            raise Reject(reject.code, f"document {position}: {reject}") from reject
        if document["document_id"] in seen:
            repairs.append(f"document '{document['document_id']}' occurs twice. Only the first was loaded.")
            continue
        seen.add(document["document_id"])
        yield document


STRESS_INSTANCE = RecordKind(
    "stress_instance",
    (
        INSTANCE_ID,
        f.Text("test", "which of the four tests it is for", required=True, terms=f.STRESS_TEST),
        f.QUESTION_ID,
        f.Text("question", "the question's text", "question_text"),
        f.Object("options", "letter -> text; empty or left out: an open question", "choices", strict=True),
        f.Text("gold", "the letter of the right option; the answer's text of an open question", required=True),
        f.Integer(
            "signal_share",
            "0 to 100: the requested share of signal; in robustness, of factual documents",
            "p",
            least=0,
            most=100,
            strict=True,
            sql="tinyint",
        ),
        f.Integer(
            "size",
            "the requested number of documents; left out: as many as it has",
            "n_documents",
            least=0,
            most=MAX_DOCUMENTS,
            strict=True,
            sql="smallint not null",
        ),
        f.List("documents", "what a system is shown, in this order", "context", strict=True, of=STRESS_DOCUMENT),
        f.Text("dataset", "where the question is from", "source"),
        f.Text("retrieval", "how its documents were found: offline (a library) or online (the web); left out: not stated"),
        f.Integer("seed", "the seed that its documents were drawn with"),
    ),
    about=(
        "Optional: one record per question and context, as `audit stress build` writes them. Every system is shown the same "
        "instances. A release may have these and questions alone. An instance whose gold is not one of its options, or with a "
        "document that cannot be used, is quarantined: its share of signal would be another one. A document that occurs twice "
        "is loaded once, with a sentence."
    ),
    files=("stress_instances",),
    counted=f.count("stress_instances", "instances of stress tests"),
    group="stress",
    check=_check_instance,
    numbers="instance",
    ids=("question",),
    same=f"instance_id '{{instance_id}}' {EARLIER}",
    table="stress_instances",
    columns={"question": "integer not null"},
)
STRESS_CALL = RecordKind(
    "stress_call",
    (DOCUMENT_ID, f.Text("call", "how the system classifies the document", "label", required=True, terms=f.DOCUMENT_CALL)),
    about="*relevant* and *noise* in sufficiency, *factual* and *wrong* in robustness.",
    table="stress_calls",
    columns=OF_REPLY,
)
STRESS_SUB_ANSWER = RecordKind(
    "stress_sub_answer",
    (
        DOCUMENT_ID,
        f.Text("answer", "the answer to this document's sub-question", "sub_answer", required=True),
        f.Number("score", "a grader's score: 0, 0.5 or 1; null: not graded", convert=_score, sql="float"),
        f.Text("read_from", "the document that the system says it read it from; null: none, or not stated", convert=_filled),
    ),
    table="stress_sub_answers",
    columns=OF_REPLY,
)


def _check_reply(_: Record, values: Record, repairs: Repairs) -> None:
    """`insufficient` is None where no choice could be read; `unread_reason` then says why."""
    choice, insufficient, reason = values["choice"], values["insufficient"], values["unread_reason"]
    if insufficient and choice:
        repairs.append(f"it chooses '{choice[:80]}' and says that the documents do not suffice. It was loaded as unreadable.")
        choice, insufficient, reason = None, None, "choice and insufficient"
    elif reason and (choice or insufficient):
        repairs.append(f"unread_reason '{reason[:80]}' together with a choice. The reply was loaded without the choice.")
        choice = insufficient = None
    elif not (choice or insufficient or reason):
        reason = NO_CHOICE
    values |= {
        "choice": choice,
        "insufficient": None if reason else bool(insufficient),
        "unread_reason": reason,
        "documents": _by_document(values["documents"], "documents", STRESS_CALL, repairs),
        "sub_answers": _by_document(values["sub_answers"], "sub_answers", STRESS_SUB_ANSWER, repairs),
    }


def _by_document(listed: list[Any], name: str, kind: RecordKind, repairs: Repairs) -> list[Record]:
    """The entries of a list about documents, one per document; unusable entries are dropped with a message."""
    entries: dict[str, Record] = {}
    contradicted: set[str] = set()
    for position, entry in enumerate(listed, 1):
        try:
            value = kind.read(entry, repairs)
        except Reject as reject:
            repairs.append(f"entry {position} of '{name}': {str(reject).rstrip('.')}. It was loaded without that entry.")
            continue
        if entries.setdefault(value["document_id"], value) != value:
            contradicted.add(value["document_id"])
    for document_id in contradicted:
        repairs.append(f"'{name}' has document '{document_id}' twice, with different content. It was loaded without both.")
        del entries[document_id]
    return list(entries.values())


STRESS_REPLY = RecordKind(
    "stress_reply",
    (
        INSTANCE_ID,
        f.SYSTEM_ID,
        f.Text("reasoning", "the reasons, in the system's words", "explanation"),
        f.Word("choice", "the letter that was chosen, or the answer to an open question", "answer", strict=True),
        f.Flag("insufficient", "the system says that the documents do not suffice", "is_insufficient", strict=True),
        f.List("documents", "how it classifies the documents", "calls", of=STRESS_CALL),
        f.List("sub_answers", "its answers to the sub-questions", of=STRESS_SUB_ANSWER),
        f.Number(
            "score",
            "a grader's score of the answer to an open question: 0, 0.5 or 1; null: not graded",
            convert=_score,
            sql="float",
        ),
        f.Word("unread_reason", "why no choice could be read; choice and insufficient are then null"),
        f.Object("usage", "tokens and time", "model_metadata", of=USAGE),
    ),
    about=(
        "Optional: one record per instance and system, as `audit stress run` writes them; needs `systems`. A reply has a "
        "choice, or is insufficient (the system says that the documents do not suffice), or could not be read: with an "
        "`unread_reason`, without any choice, with a letter that is not an option, or with a choice and insufficient at once. "
        "It is then neither right nor wrong. A document that is called in two ways has no call; calls and sub-answers about a "
        "document that the instance lacks are dropped. Each has a sentence."
    ),
    files=("stress_replies",),
    counted=f.count("stress_replies", "replies to stress tests"),
    group="stress",
    check=_check_reply,
    ids=("instance", "system"),
    unique=("instance", "system"),
    same=f"a reply of '{{system_id}}' to instance '{{instance_id}}' {EARLIER}",
    table="stress_replies",
)
