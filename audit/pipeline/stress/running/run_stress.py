"""Stress tests of a release: its instances read, and what systems replied added to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import AuditError, ReleaseError, describe_error
from audit.pipeline.release_tables import records_to_keep, release_layout, write_table
from audit.pipeline.stress.instances import INSTANCES_FILE, StressInstance, instance_of
from audit.release.records import RecordFile, UnreadableRecord
from audit.release.stress_kinds import STRESS_INSTANCE, STRESS_REPLY
from audit.release.system_kinds import SYSTEM
from audit.release.values import Reject, Repairs

REPLIES_FILE, SYSTEMS_FILE, QUESTIONS_FILE = "stress_replies.jsonl", "systems.jsonl", "questions.jsonl"
MAX_SENTENCES = 10
Record = dict[str, Any]


@dataclass
class StressInput:
    """The instances of a release, in its order; a sentence for each record that is not one of them, and for each repair."""

    folder: Path
    instances: list[StressInstance] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)

    def summary_lines(self) -> list[str]:
        """How many records were left out or repaired, and the first sentences."""
        return [*_listed("instances were left out", self.sentences), *_listed("repairs of instances", self.repairs)]


@dataclass(frozen=True)
class InstanceFilter:
    """Which instances are run: of these tests, sizes and shares (empty: all), of the first `limit` questions."""

    tests: Collection[str] = ()
    sizes: Collection[int] = ()
    shares: Collection[int] = ()
    limit: int | None = None

    def choose(self, instances: Sequence[StressInstance]) -> list[StressInstance]:
        """The instances that are run, in their order."""
        questions = set(list(dict.fromkeys(instance.question_id for instance in instances))[: self.limit])
        return [
            one
            for one in instances
            if one.question_id in questions
            and (not self.tests or one.test in self.tests)
            and (not self.sizes or one.size in self.sizes)
            and (not self.shares or one.signal_share in self.shares)
        ]


def read_instances(folder: Path, max_bytes: int) -> StressInput:
    """The instances of the release in `folder`. Of two with one id the first counts; bad ones get a sentence.

    Raises ReleaseError if it has none that can be used.
    """
    path = folder / INSTANCES_FILE
    if not path.is_file():
        raise ReleaseError(f"{folder} has no {INSTANCES_FILE}. Nothing was asked. Make it with: audit stress build")
    result = StressInput(folder)
    seen: set[str] = set()
    texts: dict[str, str] = {}
    for position, raw in RecordFile(path, max_bytes).rows():
        try:
            instance, repairs = _instance(raw, seen, texts)
        except Reject as reject:
            result.sentences.append(f"{INSTANCES_FILE}, {position}: {reject}")
        else:
            result.instances.append(instance)
            result.repairs += [f"{INSTANCES_FILE}, {position}: {repair}" for repair in repairs]
    if not result.instances:
        first = f" {result.sentences[0]}" if result.sentences else ""
        raise ReleaseError(f"{path} has no instance that can be used.{first} Nothing was asked. Correct it, or build it again.")
    return result


def _listed(words: str, sentences: Sequence[str]) -> list[str]:
    if not sentences:
        return []
    more = len(sentences) - MAX_SENTENCES
    rest = [f"  ... and {more:,} more; `audit check` lists them all."] if more > 0 else []
    return [f"{len(sentences):,} {words}:", *(f"  {text}" for text in sentences[:MAX_SENTENCES]), *rest]


def _instance(raw: Any, seen: set[str], texts: dict[str, str]) -> tuple[StressInstance, Repairs]:
    if isinstance(raw, UnreadableRecord):
        raise Reject(raw.code, raw.message)
    repairs: Repairs = []
    record = STRESS_INSTANCE.read(raw, repairs)
    for name in ("question", "signal_share"):
        if record[name] is None or record[name] == "":
            raise Reject("missing_field", f"field '{name}' is empty, so it cannot be asked or not be counted.")
    if record["instance_id"] in seen:
        raise Reject("duplicate_instance", f"instance_id '{record['instance_id']}' occurs earlier; the first record was kept.")
    seen.add(record["instance_id"])
    # A document is in many contexts: one text in memory, and not one for each of them
    for document in record["documents"]:
        document["text"] = texts.setdefault(document["text"], document["text"])
    return instance_of(record), repairs


@dataclass(frozen=True)
class EarlierTables:
    """The systems of the release by id, and its replies by instance and system, unchanged from the files."""

    systems: dict[str, Any]
    replies: dict[tuple[str, str], Any]


def earlier_tables(stress_input: StressInput, max_bytes: int) -> EarlierTables:
    """The tables that are written again. Adds questions.jsonl to a release without questions.

    Raises ReleaseError where a table is in another file or cannot be read in full: writing it again would lose some.
    """
    folder = stress_input.folder
    if not any(folder.glob("questions*")):
        write_table(folder, QUESTIONS_FILE, "questions", _questions(stress_input.instances))
    layout = release_layout(folder)
    systems = records_to_keep(layout, SYSTEM, SYSTEMS_FILE, max_bytes)
    replies = records_to_keep(layout, STRESS_REPLY, REPLIES_FILE, max_bytes)
    return EarlierTables(
        {record["system_id"]: raw for raw, record in systems},
        {(record["instance_id"], record["system_id"]): raw for raw, record in replies},
    )


def write_replies(stress_input: StressInput, earlier: EarlierTables, systems: Sequence[Record], replies: Iterable[Record]) -> int:
    """Write systems and their replies into the release, in the place of earlier ones to the same instances.

    Replies of other systems, and to other instances, stay. Returns how many replies the release has. Raises AuditError where a
    table cannot be written.
    """
    new = {(record["instance_id"], record["system_id"]): record for record in replies}
    known = earlier.systems | {record["system_id"]: record for record in systems}
    try:
        # Replies name systems, so the systems come first: a release that is killed in between can be loaded
        write_table(stress_input.folder, SYSTEMS_FILE, "systems", known.values())
        return write_table(stress_input.folder, REPLIES_FILE, "stress_replies", (earlier.replies | new).values())
    except OSError as error:
        raise AuditError(
            f"{stress_input.folder / REPLIES_FILE} cannot be written ({describe_error(error)}). The file is unchanged, and "
            f"all replies "
            "of a model are stored. Run this again with --parse-again where the folder can be written."
        ) from error


def _questions(instances: Iterable[StressInstance]) -> Iterator[Record]:
    texts: dict[str, str] = {}
    for instance in instances:
        texts.setdefault(instance.question_id, instance.question)
    yield from ({"question_id": question_id, "question": text} for question_id, text in texts.items())
