"""Pictures of every page in every state, what scripts find wrong with them, and what changed since the last pictures.

    python -m benchmarks.gallery --out DIR [--against DIR] [--worlds NAME ...] [--only PAGE ...] [--widths N ...] [--schemes ...]

A world is a data folder: the demo, the NIH release (where it is beside the checkout), the tenancy example, a store without a run,
a run without handbooks, and the demo with names of 200 letters, from right to left, with one handbook, and with 200. Each has
people of every role, and a study that waits for decisions where its run has something to rate.
Each page is opened once and then drawn at each width, light and dark. DIR gets a picture of each (WORLD/PAGE-WIDTH-SCHEME.png),
`findings.json` and `index.html`, which shows all of them. Found by script: what overflows, overlaps, is cut, covered, too small
to touch, has too little contrast, what axe-core calls serious, and each page's height. With --against, pictures whose pixels
differ from those of another gallery are listed, and the difference is drawn. Worlds are made once, in --data (default: DIR/data).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from markupsafe import Markup
from PIL import Image, ImageChops
from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page, sync_playwright

from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.label_store.studies import StudyState, advance_study, find_study
from annotation.studies.head_to_head import HeadToHeadPlan, draw_head_to_head_study, systems_in
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from audit.settings import Settings
from audit.store.runs import Run, list_runs
from audit.vocabulary import LABELS, Significance
from pages._shared.doors import BROWSING, LABELLING_DOORS, MY_ACCOUNT, OWNER_PAGES, SIGN_IN, STUDIES
from tests.browser.conftest import FLAGS, Dashboard, server, settled, signed_in_as
from tests.browser.faults import Fault, faults
from tests.support.studies import NOW, PASSWORD, people

ROOT = Path(__file__).resolve().parents[1]
NIH = ROOT.parent / "shared" / "data" / "nih_release"
CONSUMER_HEALTH = ROOT.parent / "shared" / "data" / "consumer_health"
WIDTHS, SCHEMES = (1280, 900, 390), ("light", "dark")
DRAWN_MS = 600
"""Plotly draws after the page's script has finished; no attribute says when it is done."""
TIMEOUT_MS = 120_000
"""On a machine that is busy with other work."""
ASKED_OF_MANY = 10
"""Questions of the world of many handbooks: each has as many pairs as there are couples of them."""
TALLEST = 6_000
"""Pixels of a page that are in its picture."""
VIEWS = {
    "systems": (
        "criteria",
        "differences",
        "preferences",
        "aligned",
        "trust",
        "references",
        "types",
        "retrieval",
        "when",
        "replies",
    ),
    "system_answers": ("scores", "preferred"),
    "sources": ("shares", "details", "differences", "one"),
    "stress": ("selective", "differences", "contexts", "instances", "one"),
    "compare": ("organ", "moved", "labels", "costs"),
    "retrieval": ("differences", "where", "missed", "cost"),
    "judge": ("raters", "again", "dates", "second", "planted", "read", "doubts", "replies", "prompts"),
    "trust": ("tests", "raters", "rates", "lists"),
    "runs": ("report", "findings", "datasheet", "manifest"),
    "about": ("labels", "handbooks"),
    "theme": ("pairs", "words", "where"),
    "papers": ("others", "missing", "departures"),
}
"""Views of a page besides its first, by their parameter in the address."""
WITH_VIEWS = ("demo", "no_handbooks", "long_names", "right_to_left")
"""Worlds that have what these views show; in the others a sentence says what is missing, on the first view as on each."""
MORE_STATES = (
    "disagreements?words=alcohol", "disagreements?words=nothinghasthis", "disagreements?tab=within", "disagreements?tab=left-out",
    "ask?ask=Can+I+drink+alcohol%3F", "nopage",
)  # fmt: skip
ROLES = {
    "petra": (*(tab.script for tab in STUDIES.tabs), MY_ACCOUNT.script, *OWNER_PAGES),
    "ana": (*(door.tabs[0].script for door in LABELLING_DOORS[:2]), "studies/protocol"),
    "ada": ("studies/adjudicate", "studies/agreement"),
}
"""The people of a world, and the pages that each has for itself."""
CHANGED_LEVEL, CHANGED_SHARE = 16, 0.0005
"""How far a channel of a pixel must differ, of 255, and how many pixels, until a picture counts as changed."""


@dataclass
class Picture:
    """One page at one width, light or dark."""

    world: str
    page: str
    width: int
    scheme: str
    height: int
    faults: list[Fault] = field(default_factory=list)
    changed: float | None = None

    @property
    def file(self) -> str:
        """Its path in the gallery."""
        return f"{self.world}/{re.sub(r'[^a-z0-9_]+', '-', self.page) or 'start'}-{self.width}-{self.scheme}.png"


# -- Worlds ------------------------------------------------------------------------------------------------------------


def audit(folder: Path, *words: str) -> str:
    """The output of a command on a data folder."""
    command = [sys.executable, "-m", "audit", *words]
    environment = {**os.environ, "AUDIT_DATA_DIR": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode > 1:  # 1: done, and something needs attention, such as copies that nothing has compared with each other
        raise SystemExit(done.stderr)
    return done.stdout


def make_demo(folder: Path) -> None:
    """The demo with its studies; the passwords of its made-up people are written beside it."""
    audit(folder, "demo", "--no-serve")
    told = audit(folder, "demo", "--no-serve", "--studies")
    (folder / "passwords.json").write_text(json.dumps(dict(re.findall(r"(\w+) +password (\S+)", told))), encoding="utf-8")


def staffed(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """The same world with people of every role and, where its run has something to rate, a study of two of them."""

    def make_with_people(folder: Path) -> None:
        make(folder)
        settings = Settings(data_dir=folder)
        store = open_label_store(settings.studies_url)
        roles = {"annotator": ("ana", "ben"), "adjudicator": ("ada",), "pi": ("petra",)}
        names = [name for role, own in roles.items() for name in people(store, *own, role=role)]
        for run in list_runs(settings.store_dir)[:1]:
            rated_study(store, run)
        store.close()
        (folder / "passwords.json").write_text(json.dumps(dict.fromkeys(names, PASSWORD)), encoding="utf-8")

    return make_with_people


def rated_study(store: LabelStore, run: Run) -> None:
    """A study of pairs, or else of systems, that two people have rated; in another one they have rated a part."""
    if not (run.has_pairs or run.has_systems):
        return
    for study_id, rated in (("part-rated", 5), ("rated", 1_000)):
        named = {"study_id": study_id, "title": f"{run.title}, {study_id}", "annotators": ("ana", "ben"), "now": NOW}
        if run.has_pairs:
            draw_study(store, run, SamplePlan(seed=7, per_label=dict.fromkeys(LABELS, 4), calibration=2, repeats=2), **named)
        else:
            systems = tuple(systems_in(run))[:2]
            draw_head_to_head_study(store, run, HeadToHeadPlan(seed=7, systems=systems, questions=12, calibration=2), **named)
        for state, most in ((StudyState.CALIBRATION, 1_000), (StudyState.LABELLING, rated)):
            for annotator, step in (("ana", 1), ("ben", 2)):
                rate(store, study_id, annotator, step, most)
            if (state, study_id) != (StudyState.LABELLING, "part-rated"):
                with store.begin() as tx:
                    advance_study(tx, study_id, state, NOW)


def rate(store: LabelStore, study_id: str, annotator: str, step: int, most: int) -> None:
    """Rate the next items, `most` at most: the labels one after another, in steps of `step`."""
    scheme = find_study(store, study_id).scheme
    for label in itertools.islice(itertools.cycle(scheme.words[::step]), most):
        task = next_task(store, study_id, annotator, NOW, "gallery")
        if task is None:
            return
        choice = Choice(label, Significance.MEDIUM if label in scheme.graded else None)
        submit_rating(store, annotator, NewRating(task.assignment_id, choice, task.assignment_id), NOW)


def make_tenancy(folder: Path) -> None:
    """The shipped example of another subject, from its documents."""
    shutil.copytree(ROOT / "examples" / "tenancy", folder / "project", dirs_exist_ok=True)
    audit(folder, "run", str(folder / "project" / "config.toml"))


def make_without_handbooks(folder: Path) -> None:
    """Answering systems and no handbooks."""
    convert = [sys.executable, str(ROOT / "examples" / "consumer_health" / "convert.py"), str(CONSUMER_HEALTH)]
    subprocess.run([*convert, "--out", str(folder / "release")], cwd=ROOT, check=True, capture_output=True)
    audit(folder, "load", str(folder / "release"))


def demo_release(folder: Path) -> Path:
    """The folder of the demo's release, written and loaded."""
    audit(folder, "demo", "--no-serve")
    return next(path for path in (folder / "releases").iterdir() if not path.name.endswith("earlier"))


def renamed(rename: Callable[[str], str]) -> Callable[[Path], None]:
    """The demo with other titles of handbooks and names of centers, organs, topics and systems."""

    def make(folder: Path) -> None:
        original, copy = demo_release(folder), folder / "renamed"
        shutil.copytree(original, copy)
        for file, names in {"handbooks": ("title", "center"), "systems": ("name",), "questions": ("question",)}.items():
            path = copy / f"{file}.jsonl"
            records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            lines = (json.dumps({**one, **{name: rename(one[name]) for name in names}}, ensure_ascii=False) for one in records)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
        manifest |= {"run_id": "renamed", "title": rename(manifest["title"]), "synthetic": False}
        (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        audit(folder, "load", str(copy))

    return make


def sized(handbooks: int) -> Callable[[Path], None]:
    """The demo's texts with so many handbooks: the first of them, or copies of all; of copies, its first general questions."""

    def make(folder: Path) -> None:
        original, copy = demo_release(folder), folder / "sized"
        copy.mkdir()
        own, answers, questions = (
            [json.loads(line) for line in (original / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
            for name in ("handbooks", "answers", "questions")
        )
        copies = [(one["handbook_id"], number) for number in range(-(-handbooks // len(own))) for one in own][:handbooks]
        asked = questions if handbooks == 1 else [one for one in questions if one["organ"] == "general"][:ASKED_OF_MANY]
        ids = {one["question_id"] for one in asked}
        of_copy = {one["handbook_id"]: [number for name, number in copies if name == one["handbook_id"]] for one in own}
        tables = {
            "questions": asked,
            "handbooks": [copied(one, number) for one in own for number in of_copy[one["handbook_id"]]],
            "answers": [
                copied(one, number) for one in answers if one["question_id"] in ids for number in of_copy[one["handbook_id"]]
            ],
        }
        for name, records in tables.items():
            (copy / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
        if handbooks > 1:
            (copy / "comparisons").mkdir()
            for question in sorted(ids):
                compared = json.loads((original / "comparisons" / f"{question}.json").read_text(encoding="utf-8"))
                pairs = [
                    one | {"handbook_a": f"{one['handbook_a']}_{a}", "handbook_b": f"{one['handbook_b']}_{b}"}
                    for one in compared["pairs"] for a in of_copy[one["handbook_a"]] for b in of_copy[one["handbook_b"]]
                ]  # fmt: skip
                names = [f"{name}_{number}" for name in compared["handbooks"] for number in of_copy[name]]
                record = {"question_id": question, "handbooks": names, "pairs": pairs}
                (copy / "comparisons" / f"{question}.json").write_text(json.dumps(record), encoding="utf-8")
        manifest = {
            "run_id": "sized",
            "title": "One handbook" if handbooks == 1 else f"{handbooks} handbooks",
            "synthetic": False,
        }
        (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        audit(folder, "load", str(copy))

    return make


def copied(record: dict[str, str], number: int) -> dict[str, str]:
    """A record of a handbook or of its answer, as one of the copy `number`."""
    titled = {"title": f"{record['title']}, copy {number + 1}"} if "title" in record else {}
    return record | titled | {"handbook_id": f"{record['handbook_id']}_{number}"}


def long(name: str) -> str:
    """A name of 200 letters, some of them without a blank."""
    return f"{name}, Transplantationsnachsorgezentrum for patients who wait and for those who have waited, ".ljust(200, "x")[:200]


def right_to_left(name: str) -> str:
    """A name that begins in Hebrew and goes on in Latin letters, with a number between."""
    return f"מרכז ההשתלות הארצי, 24 ({name})"


WORLDS: dict[str, Callable[[Path], object]] = {
    "demo": make_demo,
    "nih": staffed(lambda folder: audit(folder, "load", str(NIH))),
    "tenancy": staffed(make_tenancy),
    "empty": staffed(lambda folder: folder.mkdir(exist_ok=True)),
    "no_handbooks": staffed(make_without_handbooks),
    "long_names": staffed(renamed(long)),
    "right_to_left": staffed(renamed(right_to_left)),
    "one_handbook": staffed(sized(1)),
    "many_handbooks": staffed(sized(200)),
}
NEEDS = {"nih": NIH, "no_handbooks": CONSUMER_HEALTH}
"""Data beside the checkout that a world is made of."""


def states(world: str) -> Iterator[tuple[str, str]]:
    """Who looks at which address; the empty name is a visitor."""
    shown = VIEWS if world in WITH_VIEWS else {}
    views = (f"{page}?view={view}" for page, names in shown.items() for view in names)
    yield from (("", "" if page == "start" else page) for page in (*BROWSING, *views, *MORE_STATES))
    yield "", SIGN_IN.script.removeprefix("studies/")
    yield from ((name, page.removeprefix("studies/")) for name, pages in ROLES.items() for page in pages)


# -- Pictures ----------------------------------------------------------------------------------------------------------


def photographed(
    dashboard: Dashboard, page: Page, world: str, name: str, path: str, arguments: argparse.Namespace
) -> Iterator[Picture]:
    """One page as `name` sees it at each width, light and dark: its pictures, written below `--out`."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")
    dashboard.visit(page, f"/{path}")
    for width in arguments.widths:
        for scheme in arguments.schemes:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(DRAWN_MS)
            height = int(settled(page).evaluate("document.querySelector('.stMainBlockContainer')?.scrollHeight ?? 0"))
            page.set_viewport_size({"width": width, "height": max(800, min(TALLEST, height))})
            page.wait_for_timeout(DRAWN_MS // 2)
            picture = Picture(
                world, f"{name} {path}".strip(), width, scheme, height, faults(settled(page), axe=scheme == "light")
            )
            (arguments.out / picture.file).parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=arguments.out / picture.file)
            yield picture


def of_world(world: str, folder: Path, arguments: argparse.Namespace) -> Iterator[Picture]:
    """All pictures of a world."""
    secrets = folder / "passwords.json"
    passwords = json.loads(secrets.read_text(encoding="utf-8")) if secrets.exists() else {}
    with server(folder) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS, headless=True)
        dashboard, pages = Dashboard(address, chromium), {}
        for name, path in states(world):
            if arguments.only and (path.partition("?")[0] or "start") not in arguments.only:
                continue
            if name not in pages:
                pages[name] = dashboard.new_page()
                pages[name].set_default_timeout(TIMEOUT_MS)
                if name:
                    signed_in_as(dashboard, name, dashboard.visit(pages[name], "/sign_in"), passwords[name])
            try:
                yield from photographed(dashboard, pages[name], world, name, path, arguments)
            except BrowserError as error:
                yield Picture(world, path, 0, "", 0, [("broken", str(error)[:200])])
        chromium.close()


def changed_share(now: Path, before: Path, drawn: Path) -> float | None:
    """The share of pixels that differ, and where: in the picture `drawn`; None where there was no picture before."""
    if not before.exists():
        return None
    new, old = (Image.open(path).convert("RGB") for path in (now, before))
    size = max(new.width, old.width), max(new.height, old.height)
    padded = [Image.new("RGB", size, "magenta") for _ in range(2)]
    for canvas, image in zip(padded, (new, old), strict=True):
        canvas.paste(image)
    differs = ImageChops.difference(*padded).convert("L").point(lambda level: 255 if level > CHANGED_LEVEL else 0)
    share = differs.histogram()[255] / (size[0] * size[1])
    if share > CHANGED_SHARE:
        drawn.parent.mkdir(parents=True, exist_ok=True)
        Image.composite(
            Image.new("RGB", size, "red"), Image.blend(padded[0], Image.new("RGB", size, "white"), 0.6), differs
        ).save(drawn)
    return share


# -- Report ------------------------------------------------------------------------------------------------------------

INDEX = Markup(
    '<!doctype html><meta charset="utf-8"><title>Gallery</title><style>body{{font:14px sans-serif}}figure{{display:inline-block;'
    "vertical-align:top;margin:4px;width:300px}}img{{width:100%;border:1px solid #999}}li{{overflow-wrap:anywhere}}</style>{}"
)
FIGURE = Markup(
    '<figure><a href="{file}"><img loading="lazy" src="{file}" alt=""></a>'
    "<figcaption>{title}<ul>{faults}</ul></figcaption></figure>"
)


def written(pictures: list[Picture], out: Path) -> None:
    """`findings.json` and `index.html`."""
    (out / "findings.json").write_text(
        json.dumps([asdict(one) for one in pictures], indent=1, ensure_ascii=False), encoding="utf-8"
    )
    figures = Markup("").join(
        FIGURE.format(
            file=one.file,
            title=f"{one.world} /{one.page} {one.width} {one.scheme}, {one.height} px"
            + (f", {one.changed:.2%} changed" if one.changed else ""),
            faults=Markup("").join(Markup("<li>{}: {}</li>").format(*fault) for fault in one.faults),
        )
        for one in pictures
    )
    (out / "index.html").write_text(INDEX.format(figures), encoding="utf-8")


def main() -> int:
    """Make the worlds and their pictures; 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--against", type=Path, help="an earlier gallery")
    parser.add_argument("--data", type=Path, help="where the worlds are kept")
    parser.add_argument("--worlds", nargs="*", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--only", nargs="*", metavar="PAGE")
    parser.add_argument("--widths", nargs="*", type=int, default=WIDTHS)
    parser.add_argument("--schemes", nargs="*", choices=SCHEMES, default=SCHEMES)
    arguments = parser.parse_args()
    pictures: list[Picture] = []
    for world in arguments.worlds:
        if world in NEEDS and not NEEDS[world].exists():
            print(f"{world}: left out, because {NEEDS[world]} is not there")
            continue
        folder = (arguments.data or arguments.out / "data") / world
        if not folder.exists():
            folder.mkdir(parents=True)
            WORLDS[world](folder)
        for picture in of_world(world, folder, arguments):
            if arguments.against and picture.width:
                paths = (arguments.out / picture.file, arguments.against / picture.file, arguments.out / "changed" / picture.file)
                picture.changed = changed_share(*paths)
            pictures.append(picture)
            print(picture.file, f"{picture.height} px", *(f"\n    {kind}: {what}" for kind, what in picture.faults), flush=True)
    written(pictures, arguments.out)
    kinds = Counter(kind for one in pictures for kind, _ in one.faults)
    changed = [one.file for one in pictures if (one.changed or 0) > CHANGED_SHARE]
    print(f"{len(pictures)} pictures; found: {dict(kinds) or 'nothing'}")
    if arguments.against:
        print(f"{len(changed)} changed:", *changed, sep="\n    ")
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
