"""The alignment graph by hand: hops, entities that link too much, the cache of entities, and a run that is stopped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from audit.pipeline.retrieval.across.entities import DictionaryRecogniser, Entity
from audit.pipeline.retrieval.across.graph import EntityGraph, build_graph, graph_of
from audit.pipeline.retrieval.across.library import Library, build_library
from audit.pipeline.retrieval.across.sources import Source
from tests.pipeline.retrieval.across.libraries import ALDER, BIRCH, CEDAR, EMPTY, GUIDES, NOTHING, SETTINGS, SHORT, document

TERMS = {"x": {name: [] for name in ("one", "two", "three", "four", "patient")}}
WORDS = DictionaryRecogniser(TERMS)
# one - [0] - two - [1] - three - [2] - four; [3] has nothing in common but the patient
CHAIN = document("chain", "patient one two", "patient two three", "patient three four", "patient")


def chain() -> EntityGraph:
    return build_graph(build_library([CHAIN], [Source("chain", ("chain",))], SETTINGS), WORDS)


def column(graph: EntityGraph, name: str) -> int:
    return graph.column_of[Entity("x", name)]


def test_chunks_are_as_many_hops_away_as_entities_are_between() -> None:
    graph = chain()
    linking = graph.linking(3)
    one = [column(graph, "one")]
    assert graph.hops_from(one, linking, 3).tolist() == [1, 2, 3, 0]
    assert graph.hops_from(one, linking, 1).tolist() == [1, 0, 0, 0]
    assert graph.hops_from([*one, column(graph, "four")], linking, 2).tolist() == [1, 2, 1, 0]
    assert graph.hops_from([], linking, 2).tolist() == [0, 0, 0, 0]


def test_what_every_chunk_names_links_nothing() -> None:
    graph = chain()
    assert graph.degrees[column(graph, "patient")] == 4
    assert graph.linking(3).tolist() == [entity.name != "patient" for entity in graph.entities]
    patient = [column(graph, "patient")]
    assert graph.hops_from(patient, graph.linking(3), 3).tolist() == [0, 0, 0, 0], "not even as a seed"
    assert graph.hops_from(patient, graph.linking(4), 3).tolist() == [1, 1, 1, 1]


def test_the_number_of_a_chunk_leads_back_to_it_past_handbooks_without_entities() -> None:
    library = build_library((ALDER, EMPTY, BIRCH, CEDAR), (NOTHING, GUIDES, SHORT), SETTINGS)
    graph = build_graph(library, DictionaryRecogniser({"x": {"fever": []}}))
    assert graph.incidence.shape == (1 + 2 + 2 + 2, 1)
    for hit in library.search("fever fish gloves")["guides"]:
        assert graph.place_of(graph.number_of(hit)) == (hit.chunk_id.handbook_id, hit.row)
        assert graph.columns(graph.number_of(hit)).tolist() == ([0] if hit.chunk_id.section_id == "s1" else [])


class Counting:
    """Counts the texts that it is given, and stops at a word."""

    name, digest = "counting", "1"

    def __init__(self, stop_at: str = "") -> None:
        self.texts, self.stop_at = 0, stop_at

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        if self.stop_at and any(self.stop_at in text for text in texts):
            raise KeyboardInterrupt
        self.texts += len(texts)
        return WORDS.recognise(texts)


def stored(folder: Path) -> Library:
    return build_library((ALDER, BIRCH, CEDAR), (GUIDES, SHORT), SETTINGS, folder=folder)


def test_a_run_that_was_stopped_goes_on_with_the_next_handbook(tmp_path: Path) -> None:
    stopped, resumed, again = Counting("germs"), Counting(), Counting()
    with pytest.raises(KeyboardInterrupt):
        build_graph(stored(tmp_path), stopped)
    assert (stopped.texts, len(list(tmp_path.glob("*.entities.json")))) == (2 + 2, 2), "alder and birch are stored"
    graphs = [build_graph(stored(tmp_path), recogniser) for recogniser in (resumed, again)]
    assert (resumed.texts, again.texts) == (2, 0)
    assert graphs[0].entities == graphs[1].entities
    assert np.array_equal(graphs[0].incidence.toarray(), graphs[1].incidence.toarray())


def test_the_graph_of_a_library_is_built_once() -> None:
    library, recogniser = build_library([CHAIN], [Source("chain", ("chain",))], SETTINGS), Counting()
    assert graph_of(library, recogniser) is graph_of(library, recogniser)
    assert recogniser.texts == 4
