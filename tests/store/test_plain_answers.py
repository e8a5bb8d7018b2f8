"""Answers that are loaded many lines at a time: the outcome must be that of reading record by record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.release import records
from audit.store.plain_answers import PlainAnswers
from tests.support.loading import ask, load
from tests.support.tiny import handbook, release_from

ANSWERS = "select handbook_id, answers.* exclude (handbook) from answers join handbooks using (handbook) order by all"
SECTION = {"handbook_id": "a", "section_id": "s1", "heading": "Eating", "text": "Wash fruit."}
PASSAGE = {"section_id": "s1", "start": 0, "end": 4}
FIELDS: tuple[dict[str, Any], ...] = (
    {}, {"absent": False}, {"absent": True}, {"answer": None, "absent": True}, {"answer": None}, {"answer": ""}, {"answer": " "},
    {"answer": "NOT ADDRESSED"}, {"answer": "NOT ADDRESSED", "absent": False}, {"answer": "It is NOT ADDRESSED here."},
    {"answer": "Not addressed: no passage names it."}, {"answer": "\u201cWash\u201d it."}, {"answer": "**NOT ADDRESSED**\u00a0"},
    {"answer": 5}, {"answer": ["Wash"]}, {"answer": "2020-01-01"}, {"answer": "Wash\x07."}, {"answer": "half \ud83d"},
    {"absent": "yes"}, {"absent": 1}, {"absent": 1.0}, {"absent": "perhaps"}, {"absent": True, "absence_method": " check "},
    {"found": "perhaps", "absent": False}, {"found": "never"}, {"answer": None, "unread_reason": "cut_short"},
    {"unread_reason": "cut_short"}, {"answer": None, "unread_reason": " "}, {"response": "Wash."}, {"handbook": "z"},
    {"question_id": " q1"}, {"question_id": "q9"}, {"question_id": None}, {"handbook_id": ""}, {"note": {"any": [1, "x", None]}},
    {"retrieval": {}}, {"retrieval": {"mode": "passages", "sections": ["a", "b"], "url": None, "score": 1e-7}},
    {"retrieval": {"mode": 3}}, {"retrieval": {"sections": "one"}}, {"retrieval": {"sections": ["one", None]}},
    {"retrieval": {"sections": []}}, {"retrieval": "{\"mode\": \"passages\"}"}, {"retrieval": []}, {"retrieval": {"mode": None}},
    {"retrieval": {"passages": [PASSAGE]}}, {"retrieval": {"passages": [PASSAGE | {"end": 99}]}}, {"retrieval": {"passages": 3}},
    {"retrieval": {"passages": [PASSAGE | {"section_id": "s9"}]}}, {"retrieval": {"passages": []}},
    {"retrieval": {"passages": ["s1"]}}, {"retrieval": {"big": 12345678901234567890123}, "usage": None},
    {"usage": {"input_tokens": 5, "output_tokens": None, "latency_s": 2}}, {"usage": {"prompt_tokens": 7, "seconds": 0.5}},
    {"usage": {"input_tokens": 2**31}}, {"usage": {"latency_s": 1e39}}, {"usage": {"input_tokens": "5"}}, {"usage": {}},
    {"usage": {"input_tokens": 1.5}}, {"usage": "none"},
)  # fmt: skip
PLAIN = '{"question_id": "q1", "handbook_id": "%s", "answer": "Wash.", %s}'
LINES = (
    *(PLAIN % (name, '"absent": null, "absent": true') for name in "ab"),
    PLAIN % ("c", '"absent": true, "absent": null'),
    PLAIN % ("d", '"retrieval": {"mode": "x", "mode": "y"}'),
    PLAIN % ("e", '"retrieval": {"deep": [{"x": null, "x": 1}]}'),
    PLAIN % ("f", '"absent": NaN'),
    PLAIN % ("g", '"absent": null,'),
    PLAIN % ("h", '"retrieval": {"a": "\\ud800", "b": "\\u00e9"}'),
    PLAIN % ("i", '"absent" : null') + "  ",
    "\ufeff" + PLAIN % ("j", '"absent": null'),
    PLAIN % ("k", '"retrieval": ' + '{"a": ' * 400 + "1" + "}" * 400),
    PLAIN % ("l", '"retrieval": ' + "[" * 3000 + "]" * 3000),
    PLAIN % ("m", '"absent": null') + PLAIN % ("n", '"absent": null'),
    "", "  ", "[]", "{}", '{"answers": [{}, {}]}', "not JSON", '{"question_id": "q1", "handbook_id": "o", "answer": "Wa',
    PLAIN % ("p", '"absent": null'), PLAIN % ("p", '"absent": true'), PLAIN % (" p", '"absent": true'),
)  # fmt: skip


@pytest.mark.parametrize("at_once", [1, 2, 1000])
@pytest.mark.parametrize("sections", [True, False])
def test_answers_are_those_of_reading_record_by_record(
    at_once: int, sections: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"h{number}" for number in range(len(FIELDS))] + list("abcdefghijklmnop")
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT", [handbook(name) for name in names])
    if sections:
        (release / "sections.jsonl").write_text("\n".join(json.dumps(SECTION | {"handbook_id": name}) for name in names) + "\n")
    given = [
        json.dumps({"question_id": "q1", "handbook_id": name, "answer": "Wash it."} | fields)
        for name, fields in zip(names, FIELDS, strict=False)
    ]
    (release / "answers.jsonl").write_text("\n".join((*given, *LINES)))
    taken: list[bool] = []
    take = PlainAnswers.take

    def noting(*given: Any) -> bool:
        taken.append(take(*given))
        return taken[-1]

    monkeypatch.setattr(records, "CHUNK_LINES", at_once)
    monkeypatch.setattr(PlainAnswers, "take", noting)
    many = outcome(release, tmp_path / "many")
    monkeypatch.setattr(PlainAnswers, "take", lambda *_: False)
    assert many == outcome(release, tmp_path / "one")
    assert any(taken) == (at_once < 1000)


def outcome(release: Path, data_dir: Path) -> Any:
    """The answers that are stored, and the load report."""
    loaded = load(release, data_dir)
    columns = [row[0] for row in ask(loaded, f"describe {ANSWERS}")]
    answers = [dict(zip(columns, row, strict=True)) for row in ask(loaded, ANSWERS)]
    assert loaded.report
    return [row | {"retrieval": json.loads(row["retrieval"] or "null")} for row in answers], loaded.report.as_dict()
