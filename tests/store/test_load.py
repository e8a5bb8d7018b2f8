"""Loading appears complete or not at all, once per content, and leaves other runs alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from audit.errors import ReleaseError, UnknownRunError
from audit.settings import Settings
from audit.store import load as loading
from audit.store.connection import create_store
from audit.store.load import check_release
from audit.store.runs import find_run, list_runs, unreadable_stores
from tests.support.forked import Python
from tests.support.loading import BASE, ask, load, pairs_in, spoil
from tests.support.tiny import release_from


def test_the_same_content_loads_once(release: Path, tmp_path: Path) -> None:
    first = load(release, tmp_path)
    before = first.run.path.stat().st_mtime_ns
    second = load(release, tmp_path)
    assert (first.fresh, second.fresh) == (True, False)
    assert second.run.path.stat().st_mtime_ns == before
    assert load(release, tmp_path, again=True).fresh


def test_several_runs_live_side_by_side_and_the_newest_of_a_name_is_meant(release: Path, tmp_path: Path) -> None:
    old = load(release, tmp_path)
    spoil(release, "q1", lambda record: record["pairs"].pop())
    new = load(release, tmp_path)
    store = Settings(data_dir=tmp_path).store_dir
    assert [run.digest for run in list_runs(store)] == [new.run.digest, old.run.digest]
    assert find_run(store, "tiny").digest == new.run.digest
    assert find_run(store, old.run.key).digest == old.run.digest
    assert find_run(store, old.run.digest[:10]).digest == old.run.digest


def test_an_unknown_run_names_the_ones_there_are(release: Path, tmp_path: Path) -> None:
    load(release, tmp_path)
    with pytest.raises(UnknownRunError, match=r"Run 'tinny' .* Did you mean 'tiny'\? Loaded: tiny@"):
        find_run(Settings(data_dir=tmp_path).store_dir, "tinny")


def test_a_run_can_be_read_while_another_is_loaded(release: Path, tmp_path: Path) -> None:
    first = load(release, tmp_path)
    other = release_from(tmp_path / "other", "q1 kidney ab=CONSISTENT", run_id="other")
    code = (
        "import sys; from pathlib import Path; from audit.store.connection import open_store;"
        "con = open_store(Path(sys.argv[1])); print('open', flush=True); sys.stdin.readline();"
        "print(con.execute('select count(*) from pairs').fetchone()[0])"
    )
    reader = Python([sys.executable, "-c", code, str(first.run.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert reader.stdout
    assert reader.stdout.readline() == "open\n"
    load(other, tmp_path)
    load(release, tmp_path, again=True)  # even its own file may be replaced: the reader keeps the old one
    assert reader.communicate("\n")[0] == "12\n"


def test_a_load_that_fails_leaves_nothing_behind(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "reconcile", lambda *_: (_ for _ in ()).throw(ReleaseError("stopped")))
    with pytest.raises(ReleaseError):
        load(release, tmp_path)
    assert list(Settings(data_dir=tmp_path).store_dir.iterdir()) == []


def test_a_load_that_is_killed_leaves_no_run_and_the_next_one_sweeps(release: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from audit.store import load as l; from audit.settings import Settings;"
        "l.reconcile = lambda *a: (print('half', flush=True), time.sleep(60));"
        "l.load_release(Path(sys.argv[1]), Settings(data_dir=Path(sys.argv[2])))"
    )
    loader = Python([sys.executable, "-c", code, str(release), str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert loader.stdout
    assert loader.stdout.readline() == "half\n"
    os.kill(loader.pid, signal.SIGKILL)
    loader.wait()
    time.sleep(0.05)
    store = Settings(data_dir=tmp_path).store_dir
    assert list(store.glob("*.building"))
    assert list_runs(store) == []
    load(release, tmp_path)
    assert len(list(store.iterdir())) == 1


def test_a_release_without_a_usable_handbook_is_refused_with_the_reason(release: Path, tmp_path: Path) -> None:
    (release / "handbooks.jsonl").write_text('{"organ": "kidney"}\n')
    with pytest.raises(
        ReleaseError, match=r"no usable handbook in handbooks.jsonl\..*no field 'handbook_id'.*Nothing was loaded\."
    ):
        load(release, tmp_path)


def test_a_store_of_another_layout_is_told_apart_and_built_anew_by_loading(release: Path, tmp_path: Path) -> None:
    run = load(release, tmp_path).run
    with closing(create_store(run.path, "alter table run drop column layout; drop table checks")):
        pass
    (why,) = unreadable_stores(run.path.parent).values()
    assert why == "it was written by another version of this software, with other tables"
    with pytest.raises(UnknownRunError, match=r"cannot be read \(it was written by another version"):
        find_run(run.path.parent, "tiny")
    again = load(release, tmp_path)
    assert (again.fresh, again.run.key, unreadable_stores(run.path.parent)) == (True, run.key, {})


def test_checking_says_what_loading_would_and_loads_nothing(release: Path, tmp_path: Path) -> None:
    spoil(release, "q1", lambda record: record["pairs"][0].update(classification="?"))
    settings = Settings(data_dir=tmp_path / "data")
    checked = check_release(release, settings)
    assert not settings.store_dir.exists()
    assert checked.run.report == load(release, settings.data_dir).run.report


def test_what_was_not_asked_is_in_no_table(tmp_path: Path) -> None:
    loaded = load(
        release_from(tmp_path, "q1 kidney ab=CONSISTENT c=notasked\nq2 kidney ac=CONSISTENT b=absent"), tmp_path / "data"
    )
    assert ask(loaded, "select count(*) from answers") == [(5,)]
    assert len(pairs_in(loaded)) == 1 + 3
    gaps = {check["name"]: check["expected"] - check["found"] for check in loaded.run.report["checks"] if check["ok"] is False}
    assert gaps == {"answers": 1, "pairs_overall": 2}


def test_an_absent_label_without_a_trace_is_pre_screened_only_where_an_answer_is_absent(tmp_path: Path) -> None:
    folder = release_from(tmp_path, "q1 kidney ab=ABSENT c=absent")
    spoil(folder, "q1", lambda record: record["pairs"][0].update(reasoning=None, judge_metadata=None))
    assert [(row[1] + row[2], row[4]) for row in pairs_in(load(folder, tmp_path / "data"))] == [
        ("ab", False),
        ("ac", True),
        ("bc", True),
    ]


def test_the_nih_release_comes_out_as_published(nih: Path, tmp_path: Path) -> None:
    run = load(nih, tmp_path).run
    assert run.report["clean"]
    assert run.report["totals"]["pair"] == {"files": 330, "read": 11_880, "loaded": 11_880, "quarantined": 0}
    assert run.terms == {"handbook": "institute", "organ": "topic area"}
    counts = "select coalesce(label::varchar, 'UNSCORED'), prescreened, count(*) from pairs group by all order by 3 desc"
    assert ask(load(nih, tmp_path), counts) == [
        ("ABSENT", True, 11_158), ("COMPLEMENTARY", False, 633), ("DIVERGENT", False, 61),
        ("CONSISTENT", False, 19), ("ABSENT", False, 6), ("CONTRADICTORY", False, 3),
    ]  # fmt: skip


def test_without_a_name_a_judgement_of_chosen_pairs_is_not_the_run_that_is_meant(release: Path, tmp_path: Path) -> None:
    whole, store = load(release, tmp_path).run, Settings(data_dir=tmp_path).store_dir
    chosen = {"source_digest": whole.digest, "pairs": "one of them"}
    part = load(release_from(tmp_path, BASE, run_id="part", judge_settings=chosen), tmp_path).run
    assert [run.run_id for run in list_runs(store)] == ["part", "tiny"]
    assert find_run(store).digest == whole.digest
    assert find_run(store, "part").digest == part.digest
    anew = load(release_from(tmp_path, BASE, run_id="anew", judge_settings={**chosen, "pairs": "all"}), tmp_path).run
    assert find_run(store).digest == anew.digest


def test_where_only_chosen_pairs_are_loaded_they_are_what_is_meant(tmp_path: Path) -> None:
    part = release_from(tmp_path, BASE, judge_settings={"source_digest": "d" * 64, "pairs": "one of them"})
    loaded = load(part, tmp_path).run
    assert find_run(Settings(data_dir=tmp_path).store_dir).digest == loaded.digest
