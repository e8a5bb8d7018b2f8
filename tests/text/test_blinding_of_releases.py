"""Every answer of whole releases, masked, against a reader that shares nothing with the masking: letters and digits alone."""

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from audit.text.blinding import masker_of
from tests.simulator.answers import answers
from tests.simulator.config import small_config
from tests.simulator.world import draw_world

NIH_NAMES = [
    "centersfordiseasecontrol",
    "cdc",
    "geneticandrarediseases",
    "gard",
    "geneticshomereference",
    "ghr",
    "medlineplus",
    "nationalcancerinstitute",
    "nci",
    "nationalheartlung",
    "nhlbi",
    "nationalinstituteofdiabetes",
    "niddk",
    "nihseniorhealth",
    "nationalinstituteofneurological",
    "ninds",
]


def letters(text: str) -> str:
    """Words in lower case without marks, joined by single spaces."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return f" {re.sub('[^a-z]+', ' ', plain)} "


def gives_away(masked: str, names: list[str]) -> list[str]:
    """What still tells whose text it is: a name as a word, or in the letters of the whole text; a contact."""
    words = letters(masked)
    found = [name for name in names if f" {name} " in words or (len(name) > 6 and name in words.replace(" ", ""))]
    found += re.findall(r"(?<!\d)\d{3}\D{0,2}\d{4}(?!\d)|\w@\w|https?:|www|\.(?:org|com|gov|edu)\b|with permission|©", masked)
    return found


def numbers(text: str) -> set[str]:
    """Every figure of a text that has a unit: these have to survive."""
    return set(re.findall(r"\d[\d.,/]* ?(?:mg|ml|mL|°F|°C|days?|weeks?|months?|hours?|percent|%)", text))


def demo_answers() -> Iterator[tuple[str, str]]:
    world = draw_world(small_config(2057))
    masker = masker_of({"center": book.center_name, "handbook_id": book.id, "organ": book.organ} for book in world.handbooks)
    for record in answers(world):
        yield record["answer"], masker.mask(record["answer"])


def test_no_answer_of_the_demo_tells_its_center():
    names = sorted({book.center_name.lower() for book in draw_world(small_config(2057)).handbooks})
    pairs = list(demo_answers())
    assert sum("555-01" in text for text, _ in pairs) > 200
    assert [(masked, found) for _, masked in pairs if (found := gives_away(masked, names))] == []
    assert [text for text, masked in pairs if numbers(text) - numbers(masked)] == []


def test_no_answer_of_the_nih_institutes_tells_its_institute(nih: Path):
    handbooks, rows = ([json.loads(line) for line in (nih / name).open()] for name in ("handbooks.jsonl", "answers.jsonl"))
    masker = masker_of(handbooks)
    pairs = [(row["answer"], masker.mask(row["answer"])) for row in rows if not row["absent"]]
    assert len(pairs) > 800
    assert [(masked, found) for _, masked in pairs if (found := gives_away(masked, NIH_NAMES))] == []
    assert [masked for _, masked in pairs if masker.words_left(masked)] == []
    assert [text for text, masked in pairs if numbers(text) - numbers(masked)] == []
