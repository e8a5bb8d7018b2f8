"""Tables that a browser printed, whose cells are known: each comes out cell by cell, whatever rules, shades or aligns them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from audit.pipeline.corpus.extraction.extract import extract
from audit.pipeline.corpus.extraction.identity import Identity

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
STYLE = """
body {font: 13px Arial} h2 {break-before: page; font-size: 20px} p {margin: 8px 0}
table {border-collapse: collapse; width: 600px} td, th {padding: 3px 8px; text-align: left; vertical-align: top}
.grid td, .grid th {border: 1px solid black} .rules tr {border-bottom: 1px solid black}
.zebra tr:nth-child(even) {background: #ddd}
.middle td {vertical-align: middle} .centre > td, .centre td, .centre th {text-align: center} .narrow {width: 420px}
"""
LONG = "Keep it in the fridge, and do not take it if it has been out of the fridge for more than a day"
FOODS = [
    ("Tofu (regular or silken type, plain or with herbs)", "Half a cup", "Health food section of most large supermarkets"),
    ("Rye", "One slice", "Bakery"),
    ("Cheese made of soy, sliced", "One slice of about thirty grams or a little more", "Dairy case"),
    ("Split peas", "A third of a cup", "Beside the canned beans in the aisle with the other vegetables"),
    ("Eggs", "Two", "Dairy case"),
]
FOOD_HEADS = ("Food", "Portion", "Where to buy")
YEARS = ("First year after surgery", "All the years after it")
DOSES = [("Alpha", "2 mg", "1 mg"), ("Beta", "10 mg", ""), ("Gamma", "", "250 mg"), ("Delta", "5 mg", "7 mg")]


def table(rows: str, kind: str) -> str:
    return f'<table class="{kind}">{rows}</table>'


def row(*cells: str, tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def body(rows: list[tuple[str, ...]]) -> str:
    return "".join(row(*cells) for cells in rows)


def said(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    return [
        " | ".join(heads),
        *(" | ".join(f"{head}: {cell}" for head, cell in zip(heads, cells, strict=True) if cell) for cells in rows),
    ]


def foods(kind: str) -> tuple[str, list[str]]:
    """A table of foods with a row of its own, so that it is no running head of all pages, and what it says."""
    rows = [(kind.capitalize(), "None", "Nowhere"), *FOODS]
    return table(row(*FOOD_HEADS, tag="th") + body(rows), kind), said(FOOD_HEADS, rows)


# Each line of a cell shaded on its own, as word processors do it
LINE = "<div style='background: #ccc'>{}</div>"
SHADED = body([tuple("".join(map(LINE.format, cell.split(" ", 1))) for cell in cells) for cells in FOODS])
# Name -> (HTML, the lines of the section)
CASES: dict[str, tuple[str, list[str]]] = {
    "Grid": foods("grid"),
    "Grid, middle": foods("grid middle"),
    "Shaded lines": (table(row(*FOOD_HEADS, tag="th") + SHADED, "grid"), said(FOOD_HEADS, FOODS)),
    "Rules between rows": foods("rules"),
    "Rules, middle": foods("rules middle"),
    "Shaded rows": foods("zebra"),
    "No lines": foods("plain"),
    "Centred": (
        table(row("Drug", "By day", "At night", tag="th") + body(DOSES), "centre"),
        said(("Drug", "By day", "At night"), DOSES),
    ),
    "Two heads": (
        table(
            '<tr><th rowspan="2">Drug</th><th colspan="2">After surgery</th></tr>'
            + row("By day", "At night", tag="th") + body(DOSES), "grid centre",
        ),
        said(("Drug", "After surgery, By day", "After surgery, At night"), DOSES),
    ),
    "Two heads, no lines": (
        table(
            '<tr><th></th><th colspan="2">First year after surgery</th><th colspan="2">All the years after it</th></tr>'
            + row("Drug", "By day", "At night", "By day", "At night", tag="th")
            + body([(*cells, *cells[1:]) for cells in DOSES]), "centre",
        ),
        said(
            ("Drug", *(f"{year}, {time}" for year in YEARS for time in ("By day", "At night"))),
            [(*cells, *cells[1:]) for cells in DOSES],
        ),
    ),
    "Label over rows": (
        table(
            row("Group", "Food", "Advice", tag="th")
            + '<tr><td rowspan="2">Fish</td><td>Sushi</td><td>avoid</td></tr><tr><td>Cod</td><td>cook</td></tr>'
            + row("Meat", "Beef", "cook"), "grid",
        ),
        said(("Group", "Food", "Advice"), [("Fish", "Sushi", "avoid"), ("Fish", "Cod", "cook"), ("Meat", "Beef", "cook")]),
    ),
    "Long cell over rows": (
        table(
            row("Drug", "Colour", "Storage", tag="th")
            + f'<tr><td>Alpha</td><td>red</td><td rowspan="3">{LONG}</td></tr>' + row("Beta", "blue") + row("Gamma", "white")
            + row("Delta", "pink", "Anywhere"), "grid narrow",
        ),
        [
            "Drug | Colour | Storage",
            "Drug: Alpha | Colour: red",
            "Drug: Beta | Colour: blue",
            "Drug: Gamma | Colour: white",
            f"Drug: Alpha, Beta, Gamma | Storage: {LONG}",
            "Drug: Delta | Colour: pink | Storage: Anywhere",
        ],
    ),
    "Label across": (
        table(
            row("Food", "Portion", tag="th") + '<tr class="centre"><td colspan="2">Fruit, fresh or frozen</td></tr>'
            + body([("Plums", "two"), ("Pears", "one")]) + '<tr><td colspan="2"><b>Vegetables, washed</b></td></tr>'
            + body([("Leeks", "three"), ("Chard", "one cup")]), "plain",
        ),
        [
            "Food | Portion",
            "Fruit, fresh or frozen", "Food: Plums | Portion: two", "Food: Pears | Portion: one",
            "Vegetables, washed", "Food: Leeks | Portion: three", "Food: Chard | Portion: one cup",
        ],
    ),
    "Other heads below": (
        table(
            row("Vegetables", "Fruit", tag="th") + row("Leeks, chard and peas of any kind", "Plums, pears and other stone fruit")
            + row("Drinks", "Free foods", tag="th") + row("Water with lemon, tea and coffee", "Broth, vinegar and dried herbs"),
            "grid",
        ),
        [
            "Vegetables:", "• Leeks, chard and peas of any kind", "Fruit:", "• Plums, pears and other stone fruit",
            "Drinks:", "• Water with lemon, tea and coffee", "Free foods:", "• Broth, vinegar and dried herbs",
        ],
    ),
    "Lists in cells": (
        table(
            row("Group", "Avoid", "Choose", tag="th")
            + row("Fruit", "<ul><li>Star fruit<li>Dried plums and dried pears of every kind</ul>", "<ul><li>Pears<li>Plums</ul>")
            + row("Milk", "<ul><li>Buttermilk<li>Malted milk</ul>", "<ul><li>Rice drink<li>Sorbet</ul>"), "grid",
        ),
        [
            "Group | Avoid | Choose", "Fruit | Avoid:", "• Star fruit", "• Dried plums and dried pears of every kind",
            "Fruit | Choose:", "• Pears", "• Plums",
            "Milk | Avoid:", "• Buttermilk", "• Malted milk", "Milk | Choose:", "• Rice drink", "• Sorbet",
        ],
    ),
    "Avoid and choose": (
        table(
            row("Avoid", "Choose", tag="th")
            + body([("Star fruit", "Pears"), ("Buttermilk and malted milk", "Rice drink"), ("Salted nuts", "Crackers")]), "grid",
        ),
        said(("Avoid", "Choose"), [
            ("Star fruit", "Pears"), ("Buttermilk and malted milk", "Rice drink"), ("Salted nuts", "Crackers"),
        ]),
    ),
    "Two lists": (
        "<p>Never eat these:</p>" + table(row(
            "› Apple juice<br>› Dried fruits (including figs, dates,<br>&nbsp; raisins and prunes)<br>› Guava<br>› Melon",
            "› Kiwis<br>› Mangoes<br>› Rhubarb<br>› Nectarines and the juice of<br>&nbsp; nectarines",
        ), "plain"),
        [
            "Never eat these:", "• Apple juice", "• Dried fruits (including figs, dates, raisins and prunes)", "• Guava",
            "• Melon",             "• Kiwis", "• Mangoes", "• Rhubarb", "• Nectarines and the juice of nectarines",
        ],
    ),
    "Two lists without marks": (
        "<p>Top the salad with:</p>" + table(body([
            ("Sliced chicken", "Hard eggs"), ("Cold cooked fish", "Red beets"), ("Diced peppers", "Shredded carrots"),
        ]), "plain"),
        [
            "Top the salad with:", "• Sliced chicken", "• Cold cooked fish", "• Diced peppers", "• Hard eggs", "• Red beets",
            "• Shredded carrots",
        ],
    ),
    "One shade for two heads": (
        table(
            '<tr style="background: #28c; color: white"><th>Do<th>Never</tr>'
            + "".join(f'<tr><td style="border: 1px solid">{a}<td style="border: 1px solid">{b}</tr>' for a, b in (
                ("Drink water", "Lift a box"), ("Walk a lot", "Eat raw fish"), ("Sleep well", "Drive a car"),
            )), "plain",
        ),
        said(("Do", "Never"), [("Drink water", "Lift a box"), ("Walk a lot", "Eat raw fish"), ("Sleep well", "Drive a car")]),
    ),
    "Shade of the head alone": (
        table(
            '<tr style="background: #ccc"><td></td><td>Potassium in a cup<br>(of three brands)</td></tr>'
            + body([("Orange juice", "470 mg"), ("Rice milk", "65 mg"), ("Prune juice", "700 mg")]), "plain",
        ),
        [
            "Potassium in a cup (of three brands)",
            *(f"{food} | Potassium in a cup (of three brands): {amount}" for food, amount in (
                ("Orange juice", "470 mg"), ("Rice milk", "65 mg"), ("Prune juice", "700 mg"),
            )),
        ],
    ),
    "Column of colons": (
        table(
            body([(f"<b>{label}</b>", ":", value) for label, value in (("Dose", "Two"), ("Not with", LONG), ("When", LONG))]),
            "plain",
        ),
        ["Dose | Two", f"Not with | {LONG}", f"When | {LONG}"],
    ),
    "Titles above lists": (
        table(
            '<tr><td colspan="2">First aid</tr><tr><td colspan="2"><ol><li>Look for danger.<li>Put on gloves.</ol></tr>'
            + row("Minor bleeding", "Severe bleeding")
            + row("<ul><li>Clean the wound<li>Cover it</ul>", "<ul><li>Call for help<li>Press on it</ul>"), "grid",
        ),
        [
            "First aid", "1. Look for danger.", "2. Put on gloves.",
            "Minor bleeding:", "• Clean the wound", "• Cover it", "Severe bleeding:", "• Call for help", "• Press on it",
        ],
    ),
    "Rows in a cell": (
        table(
            row("Source", "Vitamin A", tag="th") + row("Liver<br>Milk, skim<br>Cheese", "27,185<br>500<br>284")
            + row("Plants", "Vitamin A", tag="th") + row("Carrots<br>Spinach<br>Kale", "13,418<br>11,458<br>9,558"), "grid",
        ),
        [
            *said(("Source", "Vitamin A"), [("Liver", "27,185"), ("Milk, skim", "500"), ("Cheese", "284")]),
            *said(("Plants", "Vitamin A"), [("Carrots", "13,418"), ("Spinach", "11,458"), ("Kale", "9,558")]),
        ],
    ),
    "Rule above": (
        '<div style="width: 600px; border-bottom: 1px solid black; margin-bottom: 12px">Values</div>'
        + table('<tr><th style="border: 0"></th><th>In the clinic</th><th>In hospital</th></tr>' + body(DOSES), "grid"),
        [
            "Values", "In the clinic | In hospital", "Alpha | In the clinic: 2 mg | In hospital: 1 mg",
            "Beta | In the clinic: 10 mg",
            "Gamma | In hospital: 250 mg",
            "Delta | In the clinic: 5 mg | In hospital: 7 mg",
        ],
    ),
    "Nothing in a column": (
        table(
            row("Can change", "Cannot", tag="th") + body([("Weight", "Age"), ("Salt", "Sex"), ("Smoking", ""), ("Rest", "")]),
            "grid",
        ),
        [*said(("Can change", "Cannot"), [("Weight", "Age"), ("Salt", "Sex")]), "Can change: Smoking", "Can change: Rest"],
    ),
    "Amounts beside items": (
        table(body([("• Milk", "8 oz. = 1 cup"), ("• Plain yogurt", "6 oz. = 2 cups"), ("• Ricotta", "½ cup = 2 oz.")]), "plain"),
        ["Milk | 8 oz. = 1 cup", "Plain yogurt | 6 oz. = 2 cups", "Ricotta | ½ cup = 2 oz."],
    ),
    "Next page": (
        '<div style="height: 780px">Before the table.</div>'
        + table("".join(row(*FOOD_HEADS, tag="th")) + body(FOODS * 2), "grid"),
        ["Before the table.", *said(FOOD_HEADS, FOODS * 2)],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Heading -> text, of all cases in one document."""
    folder = tmp_path_factory.mktemp("tables")
    page = "".join(f"<h2>{name}</h2>{html}" for name, (html, _) in CASES.items())
    (folder / "book.html").write_text(f"<meta charset=utf-8><style>{STYLE}</style><h1>Handbook</h1>{page}", "utf-8")
    call = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
        f"--user-data-dir={folder}/profile",
    ]
    call += [f"--print-to-pdf={folder}/book.pdf", f"file://{folder}/book.html"]
    subprocess.run(call, check=True, capture_output=True, timeout=120)
    document = extract(Path(folder / "book.pdf"), Identity("heart_alder_pre", "heart", "alder", "pre"))
    return {section.heading: section.text for section in document.sections}


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
@pytest.mark.parametrize("name", CASES)
def test_each_cell_of_a_printed_table_is_where_it_belongs(sections, name):
    assert [line.strip() for line in sections[name].splitlines() if line.strip()] == CASES[name][1]
