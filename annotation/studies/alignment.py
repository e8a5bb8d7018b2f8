"""Aligning a judge to a study: what to learn from, what a version may show, and how versions do on the part to prove on.

For PIs only: it has gold labels beside the judge's. Nothing that annotators can reach may import this module.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.agreement.versions import ProofItems, version_figures
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import AssignmentRow, assignment_rows
from annotation.label_store.studies import ItemKind
from annotation.ratings.design import MISSING, Codes
from annotation.studies.adjudication import ADJUDICATED
from annotation.studies.learnt import Judged, Split, Version, judged_by, record_version, split_of, split_study, versions_of
from annotation.studies.study_tables import labels_table
from annotation.studies.verdict_store import list_strata
from audit.commands import VERSION_CHECKED, VERSION_DRAFT, VERSION_EXAMPLES, load_object
from audit.store.runs import STRUCTURED
from audit.vocabulary import LABELS

SHIPPED = "shipped"
"""The first version: the prompt as this program ships it."""
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
WORD = re.compile(r"\w+")
MAX_EXAMPLES, SHINGLE, SHORTEST = 6, 12, 4
"""Examples in a proposal; words that two texts share in a row where one is taken from the other; words of a telling question."""


def begin(store: LabelStore, study_id: str, seed: int | None, by: str, now: datetime) -> Split:
    """Divide a study, and seal the shipped prompt as its first version; where that is done, its parts."""
    split = split_study(store, study_id, seed, now)
    if not versions_of(store, study_id):
        protocol, digest, title, text = load_object(VERSION_CHECKED)(load_object(VERSION_DRAFT)([], []), {}, SHIPPED)
        record_version(store, study_id, Version(SHIPPED, digest, title, text, by=by, protocol=protocol), now)
    return split


# -- learning ------------------------------------------------------------------------------------------------------------


def lessons(store: LabelStore, study_id: str) -> pd.DataFrame:
    """Items of the learning part that people decided otherwise than the judge of the run, those adjudicated first.

    item_id, question, answer_a, answer_b, label (gold), judged, reason (the adjudicator's, or ""): kinds of errors in turn, as a
    few of each teach more than many of one.
    """
    split, texts = _split(store, study_id), _item_texts(store, study_id)
    table = labels_table(store, study_id, every=True)
    own = table[table["question_id"].isin(split.learn) & table["gold"].notna() & (table["gold"] != table["judge"])]
    own = own.sort_values(
        ["gold_source", "item_id"], key=lambda column: column if column.name == "item_id" else column != ADJUDICATED
    )
    by_kind: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in own.to_dict("records"):
        shown = _texts_of(texts[row["item_id"]])
        decided = {"label": row["gold"], "judged": row["judge"] or "no label", "reason": row["adjudication_reason"] or ""}
        by_kind[row["gold"], row["judge"]].append({"item_id": row["item_id"], **shown, **decided})
    in_turn = chain.from_iterable(zip_longest(*by_kind.values()))
    columns = ["item_id", "question", "answer_a", "answer_b", "label", "judged", "reason"]
    return pd.DataFrame([row for row in in_turn if row], columns=columns)


def proposal(found: pd.DataFrame, rules: Sequence[str], protocol: str = STRUCTURED) -> str:
    """The prompt of a protocol as shipped with these rules and a few of these lessons as examples, for a person to edit."""
    lines = [
        f"{{example:{row['item_id']}}} {' '.join(str(row['reason']).split())}".rstrip()
        for row in found.head(MAX_EXAMPLES).to_dict("records")
    ]
    return str(load_object(VERSION_DRAFT)(list(rules), lines, protocol))


def add_version(store: LabelStore, study_id: str, name: str, text: str, by: str, now: datetime) -> Version:
    """Seal a version that a person has edited.

    Raises StudyError for a name that cannot be one, for an example that is no item to learn from, and where a text of the part to
    prove on is in it; AuditError where it is no template of the judge's prompt.
    """
    split = _split(store, study_id)
    if not NAME.fullmatch(name):
        raise StudyError(
            f"'{name}' cannot name a version: lower-case letters, digits and hyphens, at most 40. Nothing was added."
        )
    texts = _item_texts(store, study_id)
    examples = load_object(VERSION_EXAMPLES)(text)
    for item in examples:
        _check_example(item, texts, split)
    gold = labels_table(store, study_id, every=True).set_index("item_id")["gold"]
    shown = {item: {**_texts_of(texts[item]), "label": str(gold[item])} for item in examples}
    protocol, digest, title, full = load_object(VERSION_CHECKED)(text, shown, f"of version {name}")
    _check_no_leak(full, texts.values(), split, versions_of(store, study_id)[0].text)
    version = Version(name, digest, title, full, tuple(examples), split.learn, by, protocol)
    record_version(store, study_id, version, now)
    return version


def _check_example(item: str, texts: Mapping[str, AssignmentRow], split: Split) -> None:
    if item not in texts:
        raise StudyError(f"Example '{item}' is no item of this study. Nothing was added. Copy ids from the proposal.")
    if texts[item]["question_id"] not in split.learn:
        raise StudyError(
            f"Example '{item}' is of question '{texts[item]['question_id']}', which is in the part to prove on: a version that "
            "has seen it would prove nothing. Nothing was added. Take the example out."
        )


def _check_no_leak(text: str, items: Iterable[AssignmentRow], split: Split, shipped: str) -> None:
    """Refuse a text with words in a row from a question or answer of the part to prove on, which nothing else explains."""
    rows = list(items)
    known = [shipped, *chain.from_iterable(_texts_of(row).values() for row in rows if row["question_id"] in split.learn)]
    explained = set().union(*map(_shingles, known))
    own = _shingles(text)
    for row in rows:
        if row["question_id"] in split.learn:
            continue
        for name, part in _texts_of(row).items():
            if any(words in own for words in _shingles(part, whole=name == "question") - explained):
                raise StudyError(
                    f"The version has words of the {name.replace('_', ' ')} of item '{row['item_id']}', which is in the part to "
                    "prove on: a version that has seen it would prove nothing. Nothing was added. Take them out."
                )


def _shingles(text: str, whole: bool = False) -> set[str]:
    """Every run of SHINGLE words, and shorter ones down to SHORTEST; with `whole` a shorter text only as a whole."""
    words = WORD.findall(text.casefold())
    if whole and len(words) < SHINGLE:
        return {" ".join(words)} if len(words) >= SHORTEST else set()
    sizes = (SHINGLE,) if whole else range(SHORTEST, SHINGLE + 1)
    return {" ".join(words[start : start + size]) for size in sizes for start in range(len(words) - size + 1)}


def _texts_of(row: AssignmentRow) -> dict[str, str]:
    return {"question": row["question"], "answer_a": row["answer_a"], "answer_b": row["answer_b"]}


def _item_texts(store: LabelStore, study_id: str) -> dict[str, AssignmentRow]:
    return {row["item_id"]: row for row in assignment_rows(store, study_id) if row["kind"] == ItemKind.STUDY}


def _split(store: LabelStore, study_id: str) -> Split:
    split = split_of(store, study_id)
    if split is None:
        raise StudyError(
            f"Study '{study_id}' is not divided yet. Nothing was done. Begin with: audit judge align --study {study_id}"
        )
    return split


# -- judging -----------------------------------------------------------------------------------------------------------


def items_to_judge(store: LabelStore, study_id: str) -> list[tuple[str, str, str]]:
    """The pairs of both parts, each once: question id, handbook a, handbook b."""
    rows = _item_texts(store, study_id).values()
    return sorted({(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows})


def labels_from(store: LabelStore, study_id: str, version: Version, release: Path) -> Judged:
    """What a version labelled the items of a study, from the release that `audit judge` wrote."""
    manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    found = {
        (path_record["question_id"], frozenset((pair["handbook_a"], pair["handbook_b"]))): pair["classification"]
        for path_record in _comparisons(release)
        for pair in path_record["pairs"]
    }
    keys = {
        item: (row["question_id"], frozenset((row["handbook_a"], row["handbook_b"])))
        for item, row in _item_texts(store, study_id).items()
    }
    return Judged(version.digest, str(manifest["judge"]), release.name, {item: found.get(key) for item, key in keys.items()})


def _comparisons(release: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((release / "comparisons").glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


# -- proof -------------------------------------------------------------------------------------------------------------


def proof_figures(store: LabelStore, study_id: str) -> pd.DataFrame:
    """How well each version that has judged the study labels, on the part to prove on only: see `version_figures`.

    Raises StudyError where no version has judged it, or versions were judged by different models.
    """
    split, judged = _split(store, study_id), judged_by(store, study_id)
    versions = [version for version in versions_of(store, study_id) if version.digest in judged]
    if not versions:
        raise StudyError(
            f"No version has judged study '{study_id}' yet. Nothing is shown. Run: audit judge align --study {study_id} --judge"
        )
    if len(models := {judged[version.digest].model for version in versions}) > 1:
        raise StudyError(
            f"The versions were judged by different models ({', '.join(sorted(models))}), so no difference is the prompt's."
        )
    table = labels_table(store, study_id, every=True)
    own = table[table["question_id"].isin(split.prove) & table["gold"].notna()]
    sampled = own["stratum"].value_counts()
    pairs = {stratum.stratum: stratum.population for stratum in list_strata(store, study_id)}
    weight = np.array([pairs[name] / sampled[name] for name in own["stratum"]])
    items = ProofItems(_codes(own["gold"]), pd.factorize(own["question_id"])[0], weight)
    labels = {version.name: _codes(own["item_id"].map(judged[version.digest].labels)) for version in versions}
    return version_figures(items, labels)


def _codes(labels: pd.Series) -> Codes:
    codes = {label.value: label.code for label in LABELS}
    return np.array([codes.get(str(label), MISSING) for label in labels], dtype=np.intp)


def proof_sentence(figures: pd.DataFrame, model: str) -> str:
    """The result in a sentence for each version after the first."""
    kappas = figures[figures["figure"] == "kappa"].to_dict("records")
    first, *others = kappas
    sentences = [
        f"{row['version']}: kappa {_number(row['value'])}, {_number(row['change'], '+.2f')} "
        f"[{_number(row['change_low'], '+.2f')}, {_number(row['change_high'], '+.2f')}] from {first['version']} "
        f"({_in_words(row['moves'])})."
        for row in others
    ]
    return " ".join(
        [f"On the part to prove on, judged by {model}: {first['version']}: kappa {_number(first['value'])}.", *sentences]
    )


def _number(value: float, form: str = ".2f") -> str:
    return "not defined" if np.isnan(value) else format(value, form)


def _in_words(moves: str) -> str:
    words = {"rises": "better", "falls": "worse", "not clear": "no clear difference", "the same": "the same labels"}
    return words.get(moves, "difference not known: too few questions differ")
