"""`audit study` and `audit account`, as people type them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from sqlalchemy import text

from annotation.label_store.assignments import prefetch_tasks
from annotation.label_store.engine import StudyError, open_label_store
from annotation.label_store.studies import find_study, study_progress
from audit.cli.main import parse
from audit.settings import Settings
from tests.annotation.test_sampling import TABLE
from tests.support.loading import load
from tests.support.studies import PASSWORD, rating_history
from tests.support.tiny import release_from


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder with one loaded run."""
    load(release_from(tmp_path / "releases", TABLE), tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def typed(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Type a command: (exit code, what it printed)."""

    def run(line: str, stdin: str = f"{PASSWORD}\n") -> tuple[int, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        words = line.split()
        arguments = parse(words if words[0] == "account" else ["study", *words])
        code = arguments.function(arguments, Settings(data_dir=home, studies=""))
        return code, capsys.readouterr().out

    return run


def test_from_the_first_account_to_a_closed_study_and_a_changed_ledger(typed, home: Path, tmp_path: Path) -> None:
    assert typed("account add pat --role pi --password-stdin") == (0, "Account 'pat' has the role pi.\n")
    typed("account add ana --role annotator"), typed("account add ben --role annotator --name Ben")
    assert typed("account password Ana", "another long password\n")[1].startswith("Account 'Ana' has a new password")
    assert [line.split() for line in typed("account list")[1].splitlines()] == [
        ["ana", "annotator", "active", "ana"], ["ben", "annotator", "active", "Ben"], ["pat", "pi", "active", "pat"],
    ]  # fmt: skip
    _, printed = typed("create v1 --annotators ana,ben --per-label 2 --items ABSENT=1 --calibration 0 --repeats 0")
    assert ["ABSENT", "16", "1", "16.00"] in [line.split() for line in printed.splitlines()]
    assert "8 study items, 0 for calibration, 0 repeats." in printed
    for name in ("ana", "ben"):
        path = tmp_path / f"{name}.csv"
        typed(f"export v1 --packet {name} --out {path}")
        header, *rows = path.read_text(encoding="utf-8-sig").splitlines()
        filled_in = [header, *(row.removesuffix(",,,,,,,") + ",consistent,,,,,," for row in rows)]
        path.write_text("\r\n".join(filled_in), encoding="utf-8")
        assert typed(f"import v1 {name} {path}")[1].startswith(
            "8 rows in the file: 8 ratings stored, 0 already stored, 0 without"
        )
    assert "is now in adjudication" in typed("advance v1")[1]
    assert "is now in closed" in typed("advance v1")[1]
    assert typed("verify v1")[0] == 0
    typed(f"export v1 --out {tmp_path / 'ratings.csv'}")
    assert len((tmp_path / "ratings.csv").read_text().splitlines()) == 1 + 16
    assert "design_weight" in (tmp_path / "ratings_codebook.csv").read_text()
    against = f"verify v1 --against {tmp_path / 'ratings_manifest.json'}"
    assert "ratings_manifest.json sealed is there and unchanged.\nNothing in this study was altered." in typed(against)[1]
    store = open_label_store(Settings(data_dir=home, studies="").studies_url)
    assert len(rating_history(store, "v1")) == 16
    with store.begin() as tx:
        tx.execute(text("drop trigger ratings_no_update"))
        tx.execute(text("update ratings set comment = 'x' where seq = 3"))
    code, printed = typed("verify v1")
    assert (code, "entry 3 was changed after it was written" in printed) == (1, True)


def test_a_dry_run_prints_the_strata_and_creates_nothing(typed) -> None:
    code, printed = typed("create v1 --annotators ana,ben --dry-run --by organ")
    assert code == 0
    assert "DIVERGENT/kidney" in printed
    assert "No answer still holds a word of an institution's name." in printed
    with pytest.raises(StudyError, match="There is no study 'v1'"):
        typed("verify v1")


def test_a_study_is_designed_for_a_figure(typed) -> None:
    code, printed = typed("create v1 --annotators ana,ben --dry-run --design-for r_div --total 20")
    assert code == 0
    assert "20 study items" in printed
    assert "ABSENT/pre-screened" in printed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("create v1 --annotators ana,ben", "'ana, ben' has no account"),
        ("create v1 --annotators ana,ben --ratings-per-item 3", "needs at least 3 different annotators"),
        ("create v1 --annotators ana,ben --ratings-per-item 6", "must be 2 to 5, not 6"),
        ("create v1 --annotators ana,ben --items ABSENT", "expected LABEL=NUMBER"),
        ("create v1 --annotators ana,ben --items NONE=3", "'NONE' is not a label"),
        ("create v1 --annotators ana,ben --calibration 99999999999", "more than 1,000 items"),
        ("create v1 --annotators ana,ben --seed 99999999999999999999", "the seed is above 2,147,483,647"),
        ("export v1 --out ratings.txt", r"must end in \.csv"),
        ("export v1 --packet ana --out packet.ods", r"must end in \.csv or \.xlsx"),
        ("import v1 ana nowhere.csv", "nowhere.csv cannot be read"),
        ("advance v1", "There is no study 'v1'"),
        ("account add ana --role boss", "Role 'boss' is unknown"),
        ("account password nobody", "no account 'nobody'"),
    ],
)
def test_an_impossible_command_is_explained_in_a_sentence(typed, line: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        typed(line)


def test_a_study_of_three_ratings_an_item(typed, home: Path) -> None:
    for name in ("ana", "ben", "cem"):
        typed(f"account add {name} --role annotator")
    typed("create v1 --annotators ana,ben,cem --ratings-per-item 3 --per-label 1 --calibration 0 --repeats 0")
    store = open_label_store(Settings(data_dir=home, studies="").studies_url)
    assert find_study(store, "v1").ratings_per_item == 3
    assert [part.rated for part in study_progress(store, "v1")] == [0, 0, 0]


@pytest.mark.parametrize("more", ["", " --dry-run"])
def test_a_study_id_cannot_lead_out_of_its_folder(typed, more: str) -> None:
    typed("account add ana --role annotator"), typed("account add ben --role annotator")
    with pytest.raises(StudyError, match=r"'\.\./evil' is not a valid study id\. Allowed: up to 64 of A-Z"):
        typed(f"create ../evil --annotators ana,ben{more}")
    with pytest.raises(StudyError, match="There is no study"):
        typed("verify ../evil")


@pytest.mark.parametrize("line", ["export v1 --packet nobody --out packet.csv", "import v1 nobody {file}", "release v1 nobody"])
def test_an_annotator_who_is_not_in_the_study_is_reported_with_those_who_are(typed, tmp_path: Path, line: str) -> None:
    typed("account add ana --role annotator"), typed("account add ben --role annotator")
    typed("create v1 --annotators ana,ben --per-label 1 --calibration 0 --repeats 0")
    (tmp_path / "packet.csv").write_text("item\n")
    with pytest.raises(StudyError, match=r"'nobody' is not an annotator of study 'v1'\. .* Its annotators: ana, ben\."):
        typed(line.format(file=tmp_path / "packet.csv"))


def test_a_sample_too_large_to_rate_is_drawn_only_on_purpose(typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.cli.study_creation.MAX_STUDY_ITEMS", 13)
    typed("account add ana --role annotator"), typed("account add ben --role annotator")
    line = "create v1 --annotators ana,ben --per-label 99999999999999999999 --items ABSENT=1 --calibration 0 --repeats 0"
    with pytest.raises(StudyError, match=r"has 14 study items.* more than 13 need confirmation.* --yes"):
        typed(line)
    assert "14 study items" in typed(f"{line} --yes")[1]


def test_items_that_an_annotator_took_and_did_not_rate_are_released(typed, home: Path) -> None:
    for name in ("ana", "ben", "cem"):
        typed(f"account add {name} --role annotator")
    typed("create v1 --annotators ana,ben,cem --per-label 2 --items ABSENT=1 --calibration 0 --repeats 2")
    store = open_label_store(Settings(data_dir=home, studies="").studies_url)
    taken = len(prefetch_tasks(store, "v1", "ana", 14))
    assert taken > 2
    assert typed("release v1 ana") == (0, f"Study 'v1': {taken:,} items released by ana.\n")
    assert typed("release v1 ana") == (0, "Study 'v1': 0 items released by ana.\n")


def test_a_further_study_leaves_out_the_pairs_of_an_earlier_one(typed, home: Path) -> None:
    typed("account add ana --role annotator"), typed("account add ben --role annotator")
    typed("create v1 --annotators ana,ben --per-label 2 --calibration 0 --repeats 0")
    rest = "create v2 --annotators ana,ben --per-label 99 --calibration 0 --repeats 0 --after v1"
    # Of 29 pairs with a label, 9 are taken
    assert "20 study items, 0 for calibration, 0 repeats." in typed(f"{rest} --dry-run")[1]
    with pytest.raises(StudyError, match="no study 'v0'"):
        typed(rest.replace("--after v1", "--after v0"))
