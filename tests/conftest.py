"""What every test may ask for."""

from __future__ import annotations

import gc
import gettext
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.settings import Settings
from audit.store.runs import Run, list_runs
from tests.support import label_stores, loading
from tests.support.llm.real_server import NoServerError, real_server
from tests.support.once import made_once
from tests.support.sides import DASHBOARD, SIDES, hide_pipeline, other_side
from tests.support.tiny import release_from

# What is started in the background may be deaf to Ctrl-C, and so may be all that it starts; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# For each of seventy commands argparse looks whether its words are translated: most of the time that reading a command line takes.
gettext.find = cache(gettext.find)

SLOW = (
    "annotation/agreement/test_interval_coverage.py",
    "annotation/agreement/test_live_intervals.py",
    "annotation/cli/",
    "annotation/prevalence/test_by_group.py",
    "annotation/prevalence/test_coverage.py",
    "annotation/prevalence/test_dawid_skene.py",
    "annotation/prevalence/test_headline.py",
    "annotation/test_alignment.py",
    "annotation/test_backup.py",
    "annotation/test_demo_studies.py",
    "annotation/test_disks_and_clocks.py",
    "annotation/test_earlier_studies.py",
    "annotation/test_head_to_head.py",
    "annotation/test_item_groups.py",
    "annotation/test_packet_reader.py",
    "annotation/test_packets.py",
    "annotation/test_races_and_kills.py",
    "annotation/test_ratings_per_item.py",
    "annotation/test_sampling.py",
    "annotation/test_shown_answers.py",
    "annotation/test_validation.py",
    "browser/",
    "cli/test_demo.py",
    "cli/test_metrics.py",
    "cli/test_pairs.py",
    "evaluation/test_selective_answering.py",
    "evaluation/test_side_effects.py",
    "examples/test_deploy.py",
    "exports/test_analysis_plan.py",
    "exports/test_every_interval.py",
    "exports/test_hostile_exports.py",
    "exports/test_on_paper.py",
    "exports/test_one_group.py",
    "exports/test_package.py",
    "exports/test_previews.py",
    "exports/test_retrieval_and_themes.py",
    "exports/test_sources_and_stress.py",
    "exports/test_systems.py",
    "exports/test_two_runs.py",
    "exports/test_within_handbook.py",
    "jobs/",
    "metrics/test_judge.py",
    "metrics/test_plain_counts.py",
    "metrics/test_position_groups_on_the_simulator.py",
    "metrics/test_reading_a_real_release.py",
    "metrics/test_retrieval.py",
    "metrics/test_runs.py",
    "metrics/test_runs_on_the_simulator.py",
    "metrics/test_simulator_truth.py",
    "metrics/test_themes_moved.py",
    "metrics/test_transitions.py",
    "metrics/test_when_to_retrieve.py",
    "packaging/",
    "pages/",
    "pipeline/cli/test_batches.py",
    "pipeline/cli/test_judge.py",
    "pipeline/cli/test_models_check.py",
    "pipeline/cli/test_reword.py",
    "pipeline/cli/test_stress_judge.py",
    "pipeline/cli/test_stress_run.py",
    "pipeline/cli/test_systems_judge.py",
    "pipeline/corpus/extraction/test_real_documents.py",
    "pipeline/generation/test_command.py",
    "pipeline/llm/test_endpoints.py",
    "pipeline/llm/test_real_server.py",
    "pipeline/llm/test_runner.py",
    "pipeline/llm/test_slurm.py",
    "pipeline/llm/test_small_model.py",
    "pipeline/retrieval/across/test_entities.py",
    "pipeline/stages/test_bad_input.py",
    "pipeline/stages/test_models.py",
    "pipeline/stages/test_multi_source.py",
    "pipeline/stages/test_plan.py",
    "pipeline/stages/test_tenancy.py",
    "pipeline/stages/test_text_quality.py",
    "pipeline/stages/test_within.py",
    "pipeline/stages/test_workers.py",
    "pipeline/stress/test_readers.py",
    "pipeline/test_linear_time.py",
    "pipeline/themes/test_build.py",
    "pipeline/themes/test_demo_and_release.py",
    "pipeline/themes/test_truth_of_the_demo.py",
    "published/test_agreement_libraries.py",
    "published/test_validation_figures.py",
    "queries/test_nearest_questions.py",
    "release/test_formats.py",
    "simulator/",
    "stats/test_case_mix.py",
    "stats/test_coverage.py",
    "stats/test_latent_positions.py",
    "stats/test_prediction_powered.py",
    "store/test_doubled_fields.py",
    "store/test_hostile_releases.py",
    "store/test_load.py",
    "store/test_load_pairs.py",
    "store/test_plain_answers.py",
    "store/test_quarantine.py",
    "store/test_sections.py",
    "test_logs.py",
    "test_result_cache.py",
    "test_windows.py",
    "text/test_blinding_of_releases.py",
)
"""What the fast tier leaves out, below tests/: the files that take most CPU seconds, by tests/support/cpu_seconds.py."""

LONG = (
    "annotation/test_validation.py",
    "browser/test_access_by_role.py",
    "browser/test_journey.py",
    "browser/test_labelling.py",
    "browser/test_long_session.py",
    "browser/test_pi_journey.py",
    "browser/test_rejudge.py",
    "browser/test_study_to_the_end.py",
    "exports/test_package.py",
    "pages/test_every_page.py",
    "pipeline/cli/test_models_check.py",
    "pipeline/llm/test_small_model.py",
    "pipeline/stages/test_tenancy.py",
    "pipeline/themes/test_build.py",
    "simulator/test_command.py",
    "stats/test_every_statistic.py",
)
"""Files of half a minute and more, which begin before the others of their kind: one that began last would run alone."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--side`: one side of the wall alone."""
    parser.addoption("--side", choices=SIDES, help="test one side of the wall alone; the dashboard without audit.pipeline")


def pytest_configure(config: pytest.Config) -> None:
    """Without the pipeline, what imports it shows. What is imported and collected stays: nothing of it is garbage."""
    gc.disable()
    if config.getoption("--side") == DASHBOARD:
        hide_pipeline()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of the other side."""
    is_test = collection_path.name.startswith("test_")
    return True if is_test and other_side(collection_path, Path(__file__).parent, config.getoption("--side")) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow files, so that one list decides what the fast tier leaves out, and let the slowest begin."""
    root = Path(__file__).parent
    long = {root / name for name in LONG}
    for item in items:
        if item.path.relative_to(root).as_posix().startswith(SLOW) or on_postgres(item):
            item.add_marker(pytest.mark.slow)
    # A file with one test of two minutes that began last would let every other worker wait for it.
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is None, item.get_closest_marker("slow") is None, item.path not in long
        )
    )  # fmt: skip


def on_postgres(item: pytest.Item) -> bool:
    """Whether a server keeps what the same test keeps in SQLite, too; the fast tier starts no server."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("database") == "postgresql"


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay until the end: the garbage collector need not go through them again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


NIH = Path(__file__).resolve().parents[2] / "shared" / "data" / "nih_release"


@pytest.fixture(scope="session", autouse=True)
def stores_begin_as_copies() -> Iterator[None]:
    """Those of labels and of releases that this process makes; other processes create theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.label_store.engine._create", label_stores.create_or_copy)
        patch.setattr("annotation.label_store.engine._sqlalchemy_engine", label_stores.sharing_statements)
        patch.setattr("audit.store.load.create_store", loading.create_or_copy)
        yield


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder after `audit demo`, for reading."""
    return made_once(tmp_path_factory, "demo", make_demo)


@pytest.fixture(scope="session")
def demo_with_studies(demo_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after `audit demo --studies`."""

    def make(folder: Path) -> None:
        shutil.copytree(demo_folder, folder, dirs_exist_ok=True)
        make_demo(folder, "--studies")

    return made_once(tmp_path_factory, "demo-with-studies", make)


@pytest.fixture(scope="session")
def written_demo(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The simulated release of a seed, written once, for reading: that takes three seconds, and a dozen modules read one."""
    from tests.simulator.build import DEFAULT_SEED, write_demo

    return lambda seed=DEFAULT_SEED: made_once(tmp_path_factory, f"demo-of-{seed}", partial(write_demo, seed=seed))


def make_demo(folder: Path, *options: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_DATA_DIR", str(folder))
        patch.delenv("AUDIT_STUDIES_URL", raising=False)
        assert main(["demo", *options, "--no-serve"]) == 0


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The folder of a sound release: four handbooks, two questions, 12 pairs."""
    return release_from(tmp_path / "releases", loading.BASE)


@pytest.fixture(scope="session")
def nih() -> Path:
    """A real release with real judgements, where this machine has it."""
    if not NIH.is_dir():
        pytest.skip("the NIH release is not beside the checkout (../shared/data/nih_release)")
    return NIH


@pytest.fixture(scope="session")
def nih_run(nih: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same, loaded once, for reading."""
    folder = made_once(tmp_path_factory, "nih", partial(loading.load, nih))
    (run,) = list_runs(Settings(data_dir=folder).store_dir)
    return run


@pytest.fixture(scope="session")
def real_judge() -> Iterator[str]:
    """The address of a real server with a tiny random model (tests.support.llm.real_server.MODEL)."""
    try:
        with real_server() as url:
            yield url
    except NoServerError as missing:
        pytest.skip(f"no real server: {missing}")
