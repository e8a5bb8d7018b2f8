"""What is done is known: only what changed is done again, one bad file costs only itself, and a kill costs one file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.config import Config
from audit.pipeline.ledger import Piece, digest_of_path, write_whole
from audit.pipeline.running import CLEAN, LEFT_OUT, STOPPED, run_stages
from audit.pipeline.shop import Book, PieceByPiece, Shop, Work
from audit.settings import Settings

BAD = "scanned"


@dataclass
class Shout(PieceByPiece):
    """Writes each handbook in capitals."""

    mark: str = "!"
    worked_on: list[str] = field(default_factory=list)
    name = "shout"

    def pieces(self):
        digest = self.shop.ledger.digest
        return [
            Piece(
                self.name, book.handbook_id, {"text": digest(book.source), "mark": self.mark}, (self.out(book),), book.handbook_id
            )
            for book in self.shop.present
        ]

    def out(self, book):
        return self.shop.work.root / f"{book.handbook_id}.loud"

    def carry(self, piece):
        self.worked_on.append(piece.name)
        text = (self.shop.work.root.parent / "in" / piece.name).read_text()
        if text == BAD:
            raise AuditError(f"{piece.name} is a scan.")
        if text == "kill":
            raise KeyboardInterrupt
        write_whole(piece.outputs[0], text.upper() + self.mark)
        return {"letters": len(text)}


@dataclass
class Bind(PieceByPiece):
    """Binds them all together."""

    worked_on: list[str] = field(default_factory=list)
    name = "bind"

    def pieces(self):
        parts = {book.handbook_id: self.shop.ledger.digest(self.loud(book)) for book in self.shop.present}
        return [
            Piece(
                self.name, "all", {"of": parts} if None not in parts.values() else {"of": None}, (self.shop.work.root / "book",)
            )
        ]

    def loud(self, book):
        return self.shop.work.root / f"{book.handbook_id}.loud"

    def carry(self, piece):
        self.worked_on.append("bound")
        write_whole(piece.outputs[0], " ".join(self.loud(book).read_text() for book in self.shop.present))
        return {}


class Quiet:
    """Remembers what it was told."""

    def __init__(self):
        self.told = []

    def begin(self, stage, pieces, to_do):
        self.told.append((stage, pieces, to_do))

    def advance(self, name):
        self.told.append(name)

    def end(self, count):
        self.told.append((count.stage, count.kept, count.done, count.failed))


@dataclass
class Desk:
    """A corpus of three small files, and runs over it."""

    folder: Path

    def write(self, **texts):
        (self.folder / "in").mkdir(exist_ok=True)
        for name, text in texts.items():
            (self.folder / "in" / name).write_text(text)

    def run(self, mark="!"):
        """The tally of one run, and what each stage worked on."""
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        books = [Book(path.name, "general", path, path) for path in sorted((self.folder / "in").iterdir())]
        shop = Shop(Config(self.folder / "c.toml"), Settings(data_dir=self.folder), Work(work), books)
        shout, bind = Shout(shop, mark), Bind(shop)
        self.tally = run_stages(shop, [shout, bind], Quiet())
        return shout.worked_on, bind.worked_on

    @property
    def book(self):
        return (self.folder / "work" / "book").read_text()


@pytest.fixture
def desk(tmp_path) -> Desk:
    desk = Desk(tmp_path)
    desk.write(alder="wait", birch="go", cedar="ask")
    return desk


def test_a_second_run_does_nothing(desk):
    assert desk.run() == (["alder", "birch", "cedar"], ["bound"])
    assert (desk.book, desk.tally.verdict) == ("WAIT! GO! ASK!", CLEAN)
    assert desk.run() == ([], [])
    assert [count.kept for count in desk.tally.counts] == [3, 1]


def test_changing_one_file_does_that_file_again_and_what_hangs_on_it(desk):
    desk.run()
    desk.write(birch="stop")
    assert desk.run() == (["birch"], ["bound"])
    assert desk.book == "WAIT! STOP! ASK!"


def test_a_change_that_leaves_the_result_as_it_was_goes_no_further(desk):
    desk.run()
    desk.write(birch="GO")  # another file, the same in capitals
    assert desk.run() == (["birch"], [])


def test_changing_a_setting_does_all_files_of_that_stage_again(desk):
    desk.run()
    assert desk.run(mark="?") == (["alder", "birch", "cedar"], ["bound"])


def test_a_result_that_was_lost_or_damaged_is_made_again(desk):
    desk.run()
    (desk.folder / "work" / "alder.loud").unlink()
    (desk.folder / "work" / "cedar.loud").write_text("AS")
    assert desk.run() == (["alder", "cedar"], [])
    assert desk.run() == ([], [])


def test_a_new_handbook_costs_only_itself(desk):
    desk.run()
    desk.write(dogwood="rest")
    assert desk.run() == (["dogwood"], ["bound"])


def test_a_bad_file_does_not_lose_the_others_and_is_tried_again_once_it_is_mended(desk):
    desk.write(birch=BAD)
    assert desk.run() == (["alder", "birch", "cedar"], ["bound"])
    assert (desk.book, desk.tally.verdict) == ("WAIT! ASK!", LEFT_OUT)
    assert desk.tally.failed == ["shout, birch: birch is a scan."]
    assert desk.run() == (["birch"], [])
    desk.write(birch="go")
    assert desk.run() == (["birch"], ["bound"])
    assert (desk.book, desk.tally.verdict) == ("WAIT! GO! ASK!", CLEAN)


def test_where_every_file_is_bad_the_run_stops_there(desk):
    desk.write(alder=BAD, birch=BAD, cedar=BAD)
    assert desk.run() == (["alder", "birch", "cedar"], [])
    assert (desk.tally.verdict, desk.tally.stopped_at) == (STOPPED, "shout")


def test_whoever_stops_it_loses_at_most_the_file_at_hand(desk):
    desk.write(cedar="kill")
    with pytest.raises(KeyboardInterrupt):
        desk.run()
    desk.write(cedar="ask")
    assert desk.run() == (["cedar"], ["bound"])


def test_a_state_file_that_cannot_be_read_means_not_done(desk):
    desk.run()
    state = desk.folder / "work" / "state" / "shout" / "alder.json"
    assert json.loads(state.read_text())["figures"] == {"letters": 4}
    state.write_text("{")
    assert desk.run() == (["alder"], [])


def test_what_is_not_there_yet_has_no_fingerprint(tmp_path):
    assert Piece("bind", "all", {"of": None}).fingerprint is None
    assert digest_of_path(tmp_path / "none") is None


def test_names_and_bytes_of_a_folder_count(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    before = digest_of_path(tmp_path / "a")
    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    assert digest_of_path(tmp_path / "a") != before
