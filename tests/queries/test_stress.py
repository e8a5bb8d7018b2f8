"""Stress tests as the pages read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from audit.errors import NotInRunError
from audit.queries.stress import INSUFFICIENT, NOT_ASKED, OPEN, RIGHT, UNREAD, WRONG, stress_item, stress_item_list, stress_scope
from audit.store.connection import Connection
from tests.support.stress import stress_store


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    with stress_store(tmp_path_factory.mktemp("stress")) as con:
        yield con


def test_the_scope_lists_each_context_with_its_instances(con: Connection) -> None:
    scope = stress_scope(con).set_index("test")
    assert scope.loc["robustness", ["size", "signal_share", "instances", "closed", "dataset"]].tolist() == [2, 50, 1, 1, "own"]
    assert scope.loc["integration", "closed"] == 0


@pytest.mark.parametrize(
    ("instance", "good", "weak"),
    [
        ("q1-standard-100", RIGHT, WRONG), ("q1-sufficiency-50", RIGHT, INSUFFICIENT), ("q1-robustness-50", RIGHT, UNREAD),
        ("q2-integration-100", OPEN, NOT_ASKED),
    ],
)  # fmt: skip
def test_each_reply_has_one_of_six_states(con: Connection, instance: str, good: str, weak: str) -> None:
    assert [reply.state for reply in stress_item(con, instance).replies] == [good, weak]


def test_an_instance_has_its_documents_in_order_with_truth_calls_and_sub_answers(con: Connection) -> None:
    item = stress_item(con, "q1-robustness-50")
    assert (item.test, item.gold, item.options, item.signal_share) == ("robustness", "A", {"A": "yes", "B": "no"}, 50)
    assert [(one.document_id, one.is_signal, one.is_factual) for one in item.documents] == [
        ("b", True, True),
        ("a~", True, False),
    ]
    planted = item.documents[1].edit
    assert planted is not None
    assert (planted.before, planted.after, planted.start) == ("3 days", "9 days", 0)
    good = item.replies[0]
    assert (good.calls, good.sub_answers) == ({0: "factual", 1: "wrong"}, {1: ("3 days", None, None)})


def test_instances_on_which_systems_differ_come_first(con: Connection) -> None:
    listed = stress_item_list(con)
    assert listed["instance_id"].tolist()[:2] == ["q1-standard-100", "q1-sufficiency-50"]
    assert listed.set_index("instance_id").loc["q1-robustness-50", ["right_ones", "unread"]].tolist() == [1, 1]
    assert stress_item_list(con, test="robustness", share=50)["instance_id"].tolist() == ["q1-robustness-50"]
    assert stress_item_list(con, size=9).empty


def test_an_unknown_instance_names_the_nearest(con: Connection) -> None:
    with pytest.raises(NotInRunError, match="Did you mean 'q1-standard-100'"):
        stress_item(con, "q1-standard-10")
