"""What was compared: handbooks and questions, and whether all of it was read."""

from __future__ import annotations

import pandas as pd

from audit.exports.contents.columns import ALL, counted, named, pairs_behind, share, title_of
from audit.exports.context import Material
from audit.exports.table_model import Column, Table
from audit.queries.picker_options import handbook_list
from audit.terms import display_name
from audit.vocabulary import PHASES


def corpus(material: Material) -> Table:
    """Handbooks, centers and phases by the handbook's organ; questions and pairs by the question's."""
    books = handbook_list(material.con)
    own = pd.DataFrame([_books(organ, group) for organ, group in (*books.groupby("organ"), (ALL, books))]).set_index("organ")
    asked = material.frame("organs").set_index("organ")[["questions", "pairs"]]
    order = [*(name for name in asked.index if name != ALL), *(name for name in own.index if name not in asked.index), ALL]
    frame = own.reindex(order).fillna(0).join(asked).fillna(0).reset_index()
    phases = [counted(phase.value, phase.value.capitalize(), material.say("{handbooks}")) for phase in PHASES]
    return Table(
        "corpus", material.say("{Handbooks} and {questions} by {organ}"),
        frame.assign(organ=named(frame["organ"], material.say("all {organs}"))),
        (
            Column("organ", title_of(material, "organ")), counted("handbooks", title_of(material, "handbooks")),
            counted("centers", title_of(material, "centers")), *(phase for phase in phases if frame[phase.name].any()),
            counted("questions", title_of(material, "questions")), counted("pairs", "Pairs"),
        ),
        (
            material.say("{Handbooks} are counted by their own {organ}, {questions} and pairs by that of the {question}."),
            material.say("A pair is one {question} and two of its {handbooks}: N {handbooks} give N(N-1)/2 pairs."),
        ), pairs_behind(material),
    )  # fmt: skip


def _books(organ: str, books: pd.DataFrame) -> dict[str, object]:
    phases = {phase.value: int((books["phase"] == phase.value).sum()) for phase in PHASES}
    return {"organ": organ, "handbooks": len(books), "centers": books["center"].nunique(), **phases}


def questions(material: Material) -> Table:
    """How many questions there are on each topic."""
    frame, total = material.frame("topics", level="topic"), material.frame("organs").iloc[-1]["questions"]
    return Table(
        "questions", material.say("{Questions} by {topic}"),
        frame.assign(topic=frame["topic"].map(display_name), share=frame["questions"] / total if total else float("nan")),
        (
            Column("topic", title_of(material, "topic")), counted("questions", title_of(material, "questions")),
            share("share", "Share", material.say("of all {questions}")), counted("pairs", "Pairs"),
            counted("present", "Both answer", "pairs"),
        ),
        (material.say("{A_question} on two {topics} counts in both, so that rows add up to more than the run."),),
        material.say(f"{total:,} {{questions}}"),
    )  # fmt: skip


def load_report(material: Material) -> Table:
    """Whether every record was read: read = loaded + quarantined, by kind."""
    totals = material.run.report.get("totals", {})
    frame = pd.DataFrame([{"kind": material.run.term(kind), **numbers} for kind, numbers in totals.items()])
    heads = {"read": "Read", "loaded": "Loaded", "quarantined": "Set aside"}
    return Table(
        "load_report", "Records read, loaded and set aside", frame.reindex(columns=["kind", *heads]),
        (Column("kind", "Records"), *(counted(name, head) for name, head in heads.items())),
        (
            "Read = loaded + set aside; what was set aside counts in no figure.",
            str(material.run.report.get("verdict", "This run carries no load report.")),
        ), f"{sum(numbers.get('read', 0) for numbers in totals.values()):,} records",
    )  # fmt: skip
