"""What a browser may send for a component or a field is anything: no value stops the server, shows a stack or stores a rating."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from annotation.label_store.engine import open_label_store
from annotation.label_store.studies import study_progress
from annotation.studies.accounts import open_session
from pages._blinded.access import OWN_PAGES, now
from pages._blinded.session_cookie import NAME
from pages._shared.doors import BROWSING
from tests.browser.conftest import server
from tests.pages.conftest import TABLE
from tests.support.loading import load
from tests.support.studies import people, study_of
from tests.support.tiny import release_from
from tests.support.visitor import Visit, opened, run

EVENTS = (
    "account", "asked", "followed", "leave", "open", "opened", "outbox", "phone", "picked", "run", "theme", "ticket", "typed",
)  # fmt: skip
TYPED = "'\" <script>alert(1)</script> ${7*7} {{7*7}} \u202e\u0000 ../../etc/passwd ; drop table users; -- " + "A" * 20_000
ONE_OF = {"kind": "x", "value": TYPED, "key": TYPED, "text": TYPED, "attempt": "x", "marks": [[9]], "name": "submit"}
VALUES = (None, -1, TYPED, [None, 7, "x", {}], ONE_OF, [ONE_OF, {**ONE_OF, "assignment": 1}])
WORDS_OF_A_STACK = ("Traceback", 'File "', "/audit/", "site-packages")


class Served(NamedTuple):
    address: str
    folder: Path
    tokens: dict[str, str]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard with a run and a study, and the sessions of one person of each role."""
    folder = tmp_path_factory.mktemp("hostile-values")
    load(release_from(folder, TABLE), folder / "data")
    store = open_label_store(f"sqlite:///{folder / 'data' / 'studies.db'}")
    study_of(store, 3)
    people(store, "petra", role="pi")
    people(store, "ada", role="adjudicator")
    tokens = {name: open_session(store, name, now()) for name in ("petra", "ada", "ana")}
    store.close()
    with server(folder / "data") as address:
        yield Served(address, folder / "data", tokens)


def of_component(element: str, value: object) -> BackMsg:
    """A rerun in which every event of a component has this value, as its state and as a trigger."""
    message = BackMsg()
    states = message.rerun_script.widget_states.widgets
    states.add(id=element, json_value=json.dumps(dict.fromkeys(EVENTS, value)))
    triggers = [{"event": event, "value": value} for event in EVENTS]
    states.add(id=f"$$STREAMLIT_INTERNAL_KEY_{element}__events", json_trigger_value=json.dumps(triggers))
    return message


async def shown(visited: Visit, message: BackMsg) -> str:
    """All frames that follow, to the end of the last run."""
    message.rerun_script.page_script_hash = visited.script
    visited.text = ""
    await visited.send(message)
    await visited.finished()
    return visited.text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["petra", "ada", "ana"])
def test_no_value_of_a_component_or_a_field_shows_a_stack_or_stops_the_server(served: Served, name: str) -> None:
    role = {"petra": "pi", "ada": "adjudicator", "ana": "annotator"}[name]
    pages = [page for page in (*(BROWSING if role == "pi" else ()), *OWN_PAGES[role]) if page != "sign_out"]  # type: ignore[index]

    async def attack() -> tuple[set[str], int]:
        tried: set[str] = set()
        sent = 0
        for page in pages:
            async with opened(served.address, {"Cookie": f"{NAME}={served.tokens[name]}"}) as visited:
                await visited.rerun(page=page)
                for component in sorted(visited.components.keys() - tried):
                    tried.add(component)
                    for value in VALUES:
                        text = await shown(visited, of_component(visited.ids[component], value))
                        assert not [word for word in WORDS_OF_A_STACK if word in text], (page, component, value)
                        sent += len(EVENTS)
                await visited.rerun(page=page)
                for field in sorted(visited.inputs.keys() - tried):
                    tried.add(field)
                    await visited.rerun({field: TYPED} if field in visited.inputs else {})
                    assert not [word for word in WORDS_OF_A_STACK if word in visited.text], (page, field)
                    sent += 1
        async with opened(served.address, {"Cookie": f"{NAME}={served.tokens[name]}"}) as after:
            assert after.pages
        return tried, sent

    tried, sent = run(attack(), 400)
    assert len(tried) > 3
    assert sent > 150
    store = open_label_store(f"sqlite:///{served.folder / 'studies.db'}")
    assert [annotator.rated for annotator in study_progress(store, "s")] == [0, 0]
    store.close()
