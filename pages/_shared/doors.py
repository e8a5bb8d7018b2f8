"""The doors of the menu: which pages stand behind which, and what a run must have for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from annotation.studies.accounts import Account, Role
from audit.queries.run_contents import SHARED_CENTERS, TEXTS, TRIALS

ALWAYS: Final = "always"
HANDBOOKS: Final = "handbooks"
UNLABELLED: Final = "unlabelled"
PAIRS: Final = "pairs"
SYSTEMS: Final = "systems"
ROUTES: Final = "routes"
STRESS: Final = "stress"
TWO_RUNS: Final = "two runs"
Need = Literal[
    "always", "handbooks", "unlabelled", "pairs", "systems", "routes", "stress", "two runs", "texts", "trials", "shared centers"
]
WITHOUT_HANDBOOKS = (ALWAYS, TEXTS, SYSTEMS, ROUTES, STRESS)
"""What a run may have that asked no handbooks."""
WITHOUT_PAIRS = (*WITHOUT_HANDBOOKS, HANDBOOKS, UNLABELLED, TRIALS)
"""What a run may have whose handbooks nothing has compared yet."""


@dataclass(frozen=True)
class Tab:
    """A page: its script in `pages/`, its title (one in lower case is a term that the run may have renamed), what it needs."""

    script: str
    title: str
    needs: Need = PAIRS


@dataclass(frozen=True)
class Door:
    """An entry of the menu. Where a run has the data of several of its pages, they are a row of tabs above the page."""

    title: str
    tabs: tuple[Tab, ...]


START = Tab("start", "Start", ALWAYS)
CLINICIAN_DOORS = (
    Door("Start", (START,)),
    Door("Ask", (Tab("ask", "Ask", TEXTS),)),
    Door("Disagreements", (Tab("disagreements", "Disagreements", HANDBOOKS),)),
    Door("questions", (Tab("questions", "questions", UNLABELLED),)),
    Door(
        "Explore",
        (
            Tab("topics", "topics", HANDBOOKS),
            Tab("organs", "organs", HANDBOOKS),
            Tab("centers", "centers", SHARED_CENTERS),
            Tab("themes", "Themes"),
        ),
    ),
    Door("handbooks", (Tab("coverage", "Coverage", HANDBOOKS),)),
    Door(
        "About",
        (
            Tab("about", "Data", ALWAYS),
            Tab("trust", "Trust", HANDBOOKS),
            Tab("glossary", "Glossary", ALWAYS),
            Tab("downloads", "Downloads", ALWAYS),
        ),
    ),
)
METHODS = Door(
    "Methods",
    (
        Tab("runs", "Runs", ALWAYS),
        Tab("compare", "Compare", TWO_RUNS),
        Tab("retrieval", "Retrieval", TRIALS),
        Tab("systems", "Systems", SYSTEMS),
        Tab("system_answers", "System answers", SYSTEMS),
        Tab("sources", "Sources", ROUTES),
        Tab("stress", "Stress", STRESS),
        Tab("judge", "Judge checks"),
        Tab("rejudge", "Re-judge", HANDBOOKS),
        Tab("papers", "Papers", ALWAYS),
    ),
)
STUDIES = Door(
    "Studies",
    (
        Tab("studies/study", "Progress", ALWAYS),
        Tab("studies/agreement", "Agreement", ALWAYS),
        Tab("studies/prevalence", "Prevalence", ALWAYS),
        Tab("studies/alignment", "Alignment", ALWAYS),
        Tab("studies/adjudicate", "Adjudicate", ALWAYS),
        Tab("studies/protocol", "Protocol", ALWAYS),
        Tab("studies/people", "People", ALWAYS),
        Tab("studies/backup", "Backup", ALWAYS),
    ),
)
LABELLING_DOORS = (
    Door("Label", (Tab("studies/annotate", "Label", ALWAYS),)),
    Door("My items", (Tab("studies/my_items", "My items", ALWAYS),)),
    Door("Adjudicate", (Tab("studies/adjudicate", "Adjudicate", ALWAYS),)),
    Door("Agreement", (Tab("studies/agreement", "Agreement", ALWAYS),)),
    Door("Rubric", (Tab("studies/protocol", "Rubric", ALWAYS),)),
)
"""For annotators and adjudicators: each sees those of its own pages."""
SIGN_IN, SIGN_OUT = Tab("studies/sign_in", "Sign in", ALWAYS), Tab("studies/sign_out", "Sign out", ALWAYS)
MY_ACCOUNT = Tab("studies/my_account", "My account", ALWAYS)
DRILL_DOWNS = {
    Tab("question", "question"): "disagreements", Tab("answer", "Answer"): "question", Tab("theme", "Theme"): "themes",
    Tab("handbook", "handbook"): "coverage", Tab("source", "Source"): "answer", Tab("as_read", "As read"): "handbook",
}  # fmt: skip
"""Pages that are opened from another page, never from the menu, each with the page that its crumb leads back to."""
OWNER_PAGES = ("rejudge",)  # using them costs money, so they are not open to everybody who browses: see `may_rejudge`
BROWSING = {tab.script: tab for tab in (*(tab for door in (*CLINICIAN_DOORS, METHODS) for tab in door.tabs), *DRILL_DOWNS)}
"""Every page about a run, by its script."""


def doors(account: Account | None, *, browses: bool, owner: bool, has_handbooks: bool, own: tuple[str, ...]) -> tuple[Door, ...]:
    """The doors of an account, whatever the run lacks.

    owner          may start a judge
    has_handbooks  whether the run asked handbooks; one that did not has only *Methods* to show
    own            the scripts of `pages/studies` that exist for the account
    """
    if not browses:
        return tuple(door for door in LABELLING_DOORS if door.tabs[0].script.removeprefix("studies/") in own) or _entry(account)
    studies = (STUDIES,) if account is not None and account.role is Role.PI else ()
    return (*CLINICIAN_DOORS, *studies, *((METHODS,) if owner or not has_handbooks else ()))


def _entry(account: Account | None) -> tuple[Door, ...]:
    return (Door(SIGN_IN.title, (SIGN_IN,)),) if account is None else ()


def door_of(script: str) -> Door | None:
    """The door behind which several pages stand, this one among them; None for a page on its own."""
    return next((door for door in (*CLINICIAN_DOORS, STUDIES, METHODS) if any(tab.script == script for tab in door.tabs)), None)


def crumb_of(script: str, *, unlabelled: bool = False, asked: bool = False) -> str | None:
    """The page that the crumb of a drill-down leads back to; None for other pages. Without labels there are no disagreements.

    asked  whether a question of the reader's own led there
    """
    if asked and script == "source":
        return "ask"
    parent = next((parent for tab, parent in DRILL_DOWNS.items() if tab.script == script), None)
    return "questions" if unlabelled and parent == "disagreements" else parent
