"""One box that searches a run and asks its handbooks: the browser has the list, so results come as one types."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from audit.charts.style import handbook_names
from audit.jobs.asking import near_questions
from audit.metrics.question_positions import question_positions
from audit.queries.lookup import handbook_list
from audit.queries.run_contents import TEXTS, run_contents
from audit.queries.search_index import SearchEntry, more_words, search_index
from audit.release.taxonomy import Taxonomy
from audit.result_cache import stored_for_every_question
from audit.settings import Settings
from audit.store.runs import Run
from audit.terms import display_name, fill, terms
from audit.text.search_hits import SearchHit, find_hits
from audit.text.word_match import STOP_STEMS, stems_of
from pages._blinded.access import current_account, may_browse
from pages._blinded.scripts import script_path
from pages._blinded.templates import component
from pages._shared.loaders import built_taxonomy, load
from pages._shared.themes import current_curation, theme_names

_search, _near = component("_shared/search"), component("_shared/near")
NEAR = "search_near"
Item = tuple[str, str, str, str]
"""Value of the parameter that opens it, its name, how disputed it is, and further words (`SearchEntry.more`)."""
MAX_POSITIONS = 600
"""Those that most handbooks hold. More would double what a page sends."""
MAX_STATEMENT = 140  # characters


def search(run: Run, key: str, *, large: bool = False) -> None:
    """Draw the box. A chosen result opens its page; Enter alone asks the handbooks, where the run has their texts."""
    kinds = _kinds(run)
    edited, taxonomy = _themes_of(run)
    data = {
        "index": _index((run.digest, run.loaded_at, *edited), run, taxonomy),
        "label": _label(run, kinds), "asks": kinds[-1].get("asks", False), "run": run.key, "large": large,
    }  # fmt: skip
    event = _search(key=key, data=data, on_open_change=lambda: None)
    _by_meaning(run)
    if opened := getattr(event, "open", None):
        kind, value = kinds[int(opened["kind"])], str(opened["value"])
        st.switch_page(script_path(kind["page"]), query_params={"run": run.key, kind["param"]: value})


@st.fragment
def _by_meaning(run: Run) -> None:
    """The questions nearest in meaning to what is typed, for the box; a fragment, so that no letter draws the page again."""
    asked = st.session_state.get(NEAR, {}).get("typed") or {}
    typed = str(asked.get("text", ""))
    near = near_questions(run, typed, Settings().data_dir) if typed and may_browse(current_account()) else []
    data = {"run": run.key, "typed": typed, "attempt": int(asked.get("attempt", 1)), "near": near}
    _near(key=NEAR, data=data, on_typed_change=lambda: None)


def _themes_of(run: Run) -> tuple[tuple[str, ...], Taxonomy | None]:
    """The themes of a run with people's edits, and a key that changes with either."""
    built = built_taxonomy(run) if run.has_pairs else None
    if built is None:
        return (), None
    edits, curated = current_curation(run, built)
    return (built.sha256, str(len(edits))), curated.taxonomy


def _label(run: Run, kinds: list[dict[str, Any]]) -> str:
    if kinds[-1].get("asks"):
        return "Search, or ask a question"
    return fill(run, "Search {questions}" + (", {handbooks} and {topics}" if run.has_pairs else ""))


def _kinds(run: Run) -> list[dict[str, Any]]:
    """What can be found: heading, page, the parameter that a result fills, the least score, and how many are listed.

    `typed` instead of the last two is the name of a result that has what was typed; one that `asks` is what Enter does.
    """
    words = terms(run)
    pages = (
        ("Questions", "question" if run.has_handbooks else "system_answers", "question", 0.1, 7, True),
        ("Positions", "question", "question", 0.5, 4, run.has_pairs),
        ("Themes", "theme", "theme", 0.5, 4, run.has_pairs),
        ("Topics", "disagreements", "topic", 0.4, 3, run.has_pairs),
        ("Subtopics", "disagreements", "subtopic", 0.4, 3, run.has_pairs),
        ("Handbooks", "handbook", "handbook", 0.4, 5, run.has_handbooks),
    )
    found: list[dict[str, Any]] = [
        {"heading": words.get(heading, heading), "page": page, "param": param, "least": least, "most": most, "found": heading}
        for heading, page, param, least, most, has in pages
        if has
    ]
    if run.has_pairs:
        name = fill(run, "Disagreements with these words in the {question} or an answer")
        found.append({"heading": "Disagreements", "page": "disagreements", "param": "words", "typed": name})
    if TEXTS in load(run_contents, run):
        found.append({"heading": "Ask", "page": "ask", "param": "ask", "typed": fill(run, "Ask the {handbooks}"), "asks": True})
    return found


@st.cache_resource(show_spinner=False, max_entries=16)
def _index(key: tuple[str, ...], _run: Run, _taxonomy: Taxonomy | None) -> str:
    """What the browser searches, as JSON: the kinds with the items of each, and the stems that hardly count."""
    items = _items(_run, _taxonomy)
    kinds = [{**kind, "entries": items.get(kind.get("found", ""), [])} for kind in _kinds(_run)]
    return json.dumps({"kinds": kinds, "stop_stems": sorted(STOP_STEMS)}, ensure_ascii=False)


def _items(run: Run, taxonomy: Taxonomy | None) -> dict[str, list[Item]]:
    """Heading -> what can be found under it."""
    index = load(search_index, run)
    names = handbook_names(load(handbook_list, run)) if run.has_handbooks else {}
    return {
        "Questions": [(one.value, one.name, question_note(run, one.counts), one.more) for one in index.questions],
        "Positions": _positions(run, index.questions, index.positions),
        "Themes": _themes(taxonomy, index.divergence_topics) if taxonomy else [],
        "Topics": _tags(run, index.topics),
        "Subtopics": _tags(run, index.subtopics),
        "Handbooks": [(key, name, handbook_note(run, index.disputed.get(key, 0)), "") for key, name in names.items()],
    }


def question_note(run: Run, counts: tuple[int, ...]) -> str:
    """How many handbooks answer a question, and whether their answers differ."""
    asked, answering, perhaps, disagreeing = counts
    disputed = ("disputed" if disagreeing else "not disputed") if run.has_pairs and (answering > 1 or disagreeing) else ""
    if not asked or not run.has_handbooks:
        return disputed
    of_all = f"of {asked} {fill(run, '{handbooks}' if asked != 1 else '{handbook}')}"
    if perhaps:
        answers = f"stated in {answering - perhaps}, perhaps in {perhaps} {of_all}"
    else:
        answers = f"{answering or 'none'} {of_all} {'answers' if answering <= 1 else 'answer'}"
    return f"{answers}, {disputed}" if disputed else answers


def handbook_note(run: Run, disputed: int) -> str:
    """On how many questions a handbook disagrees with another."""
    if not run.has_pairs:
        return ""
    return fill(run, f"disagrees on {disputed:,} " + ("{question}" if disputed == 1 else "{questions}"))


def _tags(run: Run, tags: Iterable[SearchEntry]) -> list[Item]:
    return [(tag.value, display_name(tag.name), tag_note(run, *tag.counts), more_words(tag.name)) for tag in tags]


def tag_note(run: Run, questions: int, disputed: int) -> str:
    """How many of the questions of a topic are disputed."""
    return fill(run, f"{disputed:,} of {questions:,} " + ("{question}" if questions == 1 else "{questions}") + " disputed")


def _themes(taxonomy: Taxonomy, pairs: dict[str, int]) -> list[Item]:
    """Themes by their names and distinctive words, each with the pairs of its divergence topics and of the themes below it."""
    names, counts = theme_names(taxonomy), Counter[str]()
    for theme in taxonomy.themes:
        for theme_id in filter(None, (theme.theme_id, theme.parent_id)):
            counts[theme_id] += sum(pairs.get(topic, 0) for topic in theme.topics)
    return [
        (
            theme.theme_id, display_name(names[theme.theme_id]), _pairs_disagree(counts[theme.theme_id]),
            " ".join(f"5{term}" for term in dict.fromkeys(stems_of(" ".join(theme.terms)))),
        )
        for theme in taxonomy.themes
    ]  # fmt: skip


def _pairs_disagree(pairs: int) -> str:
    return "1 pair disagrees" if pairs == 1 else f"{pairs:,} pairs disagree"


def _positions(run: Run, questions: list[SearchEntry], of_release: list[tuple[str, str, int]]) -> list[Item]:
    """The positions of the release, or those found when the run was loaded: finding them now would take too long."""
    texts = {one.value: one.name for one in questions}
    held = of_release or _found_positions(run)
    most_held = sorted(held, key=lambda position: -position[2])[:MAX_POSITIONS]
    return [
        (
            question_id, shortened(statement), f"{size} {run.term('handbook', size)}, on: {texts.get(question_id, question_id)}",
            " ".join(f"3{term}" for term in dict.fromkeys(stems_of(texts.get(question_id, "")))),
        )
        for question_id, statement, size in most_held
    ]  # fmt: skip


def _found_positions(run: Run) -> list[tuple[str, str, int]]:
    frame = stored_for_every_question(run.path, question_positions.name, ["of_question", "statement", "size"])
    return [] if frame is None else list(frame.drop_duplicates().itertuples(index=False, name=None))


def shortened(statement: str) -> str:
    """The beginning of a statement, up to a space."""
    if len(statement) <= MAX_STATEMENT:
        return statement
    return statement[:MAX_STATEMENT].rsplit(" ", 1)[0] + " …"


# -- The words of the search in the address, and their places in what a page shows. Every character is escaped before a tag


PARAM = "words"
MAX_WORDS = 8
HIT = Markup('<mark class="hit">{}</mark>')


def searched_words() -> tuple[str, ...]:
    """The words in the address, without repeats; () where nothing is searched for."""
    return words_of(st.query_params.get(PARAM, ""))


def words_of(typed: str) -> tuple[str, ...]:
    """The words of a search, as the filters of pairs take them."""
    return tuple(dict.fromkeys(typed.split()))[:MAX_WORDS]


def hits_html(text: str, words: Sequence[str]) -> Markup:
    """The escaped text with the words in `<mark>`."""
    return hits_in(text, words)(0, len(text))


def hits_in(text: str, words: Sequence[str]) -> Callable[[int, int], Markup]:
    """The same for characters `start` to `end` of the text, so that other marks can surround hits and end inside them."""
    hits = find_hits(text, words) if words else ()
    return lambda start, end: Markup().join(_fragments(text, hits, start, end))


def _fragments(text: str, hits: Sequence[SearchHit], start: int, end: int) -> list[str]:
    fragments, done = list[str](), start
    for hit in hits:
        first, last = max(hit.start, start), min(hit.end, end)
        if first < last:
            fragments += [text[done:first], HIT.format(text[first:last])]
            done = last
    return [*fragments, text[done:end]]
