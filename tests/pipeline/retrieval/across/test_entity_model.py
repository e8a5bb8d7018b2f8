"""A model as recogniser: what of a reply is believed, what is asked once only, and what happens without a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from audit.errors import RetrievalError
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits
from audit.pipeline.retrieval.across.entity_model import SCHEMA, ModelRecogniser, journalled, read_entities
from audit.release.journal_files import Reply
from tests.support.llm.fault_server import fault_server

TEXT = "Take Prograf twice a day; call for fevers."


def reply(text: str, outcome: str = ANSWERED) -> Reply:
    return Reply("key", outcome, text=text)


def named(*entities: tuple[str, str]) -> str:
    return json.dumps({"entities": [{"kind": kind, "name": name} for kind, name in entities]})


def answering(text: str, outcome: str = ANSWERED) -> ModelRecogniser:
    def ask(calls: Sequence[Call]) -> Mapping[str, Reply]:
        return {call.key: Reply(call.key, outcome, text=text) for call in calls}

    return ModelRecogniser("model", ask)


def test_only_what_the_text_names_is_believed() -> None:
    recogniser = answering(named(("drug", "Prograf"), ("symptom", "Fever"), ("symptom", "rash"), ("planet", "day")))
    (entities, nothing) = recogniser.recognise([TEXT, "  "])
    assert [str(entity) for entity in entities] == ["drug: prograf", "symptom: fever"]
    assert (nothing, recogniser.unread.total()) == ((), 0), "an empty text is not asked"


def test_no_entity_is_an_answer_and_an_unreadable_reply_is_counted() -> None:
    assert read_entities(reply(named())) == ([], None)
    for text, outcome, reason in (
        ("none", ANSWERED, "no list of entities"),
        ('{"entities": "fever"}', ANSWERED, "no list of entities"),
        ("", ANSWERED, "empty"),
        ("", CUT, "cut"),
    ):
        recogniser = answering(text, outcome)
        assert recogniser.recognise([TEXT]) == [()]
        assert dict(recogniser.unread) == {reason: 1}


def test_a_text_without_a_reply_stops_the_reading() -> None:
    with pytest.raises(RetrievalError, match="did not answer for 1 of 1 passages"):
        answering("", FAILED).recognise([TEXT])
    with pytest.raises(RetrievalError, match="The replies so far are kept"):
        ModelRecogniser("model", lambda _: {}).recognise([TEXT])


def test_what_was_read_is_not_asked_again(tmp_path: Path) -> None:
    with fault_server() as server, Journal(tmp_path / "entities.sqlite", {"work": "entities"}) as journal:
        recogniser = ModelRecogniser("judge", journalled(journal, [Endpoint(server.url, "judge")], Limits(concurrency=2)))
        first = recogniser.recognise([TEXT, "Swim with care."])
        asked = server.asked
        assert first == recogniser.recognise([TEXT, "Swim with care."])
        assert server.asked == asked >= 2
        assert all(body["response_format"]["json_schema"]["schema"] == SCHEMA for body in server.bodies)
        assert any(TEXT in body["messages"][-1]["content"] for body in server.bodies)


def test_another_model_or_prompt_has_another_digest() -> None:
    assert answering("").digest == answering("x").digest
    assert answering("").digest != ModelRecogniser("other", lambda _: {}).digest
