"""The judge's verdicts on a study's items, and where its sample comes from, kept apart from everything annotators can reach.

The blinding contracts forbid the annotate page, packets and `annotation.label_store` to import this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import JSON, Column, Connection, Index, Integer, MetaData, Table, Text, insert, select

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.schema import studies
from annotation.label_store.seals import SAMPLED, all_columns, seal_rows
from annotation.label_store.stored_values import record_of

# A metadata of its own: the schema that annotators' pages import must not know these tables.
metadata = MetaData(naming_convention={"pk": "pk_%(table_name)s"})

designs = Table(
    "designs",
    metadata,
    Column("study_id", Text, primary_key=True),
    Column("run_key", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("unscored", Integer, nullable=False),
    Column("plan", JSON, nullable=False),
)

strata = Table(
    "strata",
    metadata,
    Column("study_id", Text, primary_key=True),
    Column("stratum", Text, primary_key=True),
    Column("label", Text, nullable=False),
    Column("second", Text),
    Column("population", Integer, nullable=False),
    Column("sampled", Integer, nullable=False),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("study_id", Text, nullable=False),
    Column("stratum", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("significance", Text),
    Column("topic", Text),
    Column("reasoning", Text),
    Index("ix_verdicts_study_id", "study_id"),
)

VERDICT_TABLES = (designs, strata, verdicts)


@dataclass(frozen=True)
class SampleOrigin:
    """Where a sample comes from.

    run_key, digest   the run, and the SHA-256 of its release
    pairs, unscored   all pairs of the run, and those without a verdict; unscored pairs are in no stratum, so no figure of the
                      study covers them
    plan              the `annotation.studies.sample_plan.SamplePlan` that was requested, seed included
    """

    run_key: str
    digest: str
    pairs: int
    unscored: int
    plan: Mapping[str, Any]


@dataclass(frozen=True)
class Stratum:
    """One stratum of the sample: all pairs with this label (and second criterion), and how many of them are study items.

    stratum     its name: the label, or `label/second`
    population  N_h, the number of pairs of the run in it, known exactly
    sampled     n_h, drawn without replacement, calibration items and repeats excluded
    """

    stratum: str
    label: str
    second: str | None
    population: int
    sampled: int

    @property
    def weight(self) -> float:
        """N_h / n_h: how many pairs of the run one item represents; 0 where nothing was drawn."""
        return self.population / self.sampled if self.sampled else 0.0


@dataclass(frozen=True)
class StoredVerdict:
    """The judge's verdict on one item."""

    item_id: str
    stratum: str
    label: str
    significance: str | None
    topic: str | None
    reasoning: str | None


def store_sample(
    tx: Connection, study_id: str, origin: SampleOrigin, strata_drawn: Sequence[Stratum], judged: Sequence[StoredVerdict]
) -> None:
    """Store a sample's origin, strata and verdicts, in the transaction that creates the study, and seal them."""
    tx.execute(insert(designs).values(study_id=study_id, **asdict(origin)))
    tx.execute(insert(strata), [{"study_id": study_id, **asdict(stratum)} for stratum in strata_drawn])
    tx.execute(insert(verdicts), [{"study_id": study_id, **asdict(verdict)} for verdict in judged])
    created_at = tx.execute(select(studies.c.created_at).where(studies.c.study_id == study_id)).scalar_one()
    seal_rows(tx, study_id, SAMPLED, [all_columns(table) for table in VERDICT_TABLES], created_at)


def find_origin(store: LabelStore, study_id: str) -> SampleOrigin:
    """The origin of a study's sample.

    Raises StudyError when the study was not drawn from a run.
    """
    with store.read() as con:
        row = con.execute(select(designs).where(designs.c.study_id == study_id)).mappings().first()
    if row is None:
        raise StudyError(f"Study '{study_id}' has no sampling design, because it was not drawn from a run. Nothing is shown.")
    return record_of(SampleOrigin, row)


def sample_digest(store: LabelStore, study_id: str) -> str | None:
    """The SHA-256 of the release that a study's sample was drawn from; None where it was not drawn from a run."""
    with store.read() as con:
        return con.execute(select(designs.c.digest).where(designs.c.study_id == study_id)).scalar()


def list_strata(store: LabelStore, study_id: str) -> list[Stratum]:
    """The strata of a study, by name."""
    with store.read() as con:
        rows = con.execute(select(strata).where(strata.c.study_id == study_id).order_by(strata.c.stratum)).mappings()
        return [record_of(Stratum, row) for row in rows]


def verdicts_by_item(store: LabelStore, study_id: str) -> dict[str, StoredVerdict]:
    """The judge's verdict on each item, by item id, repeats and calibration items included."""
    with store.read() as con:
        rows = con.execute(select(verdicts).where(verdicts.c.study_id == study_id)).mappings()
        return {row["item_id"]: record_of(StoredVerdict, row) for row in rows}
