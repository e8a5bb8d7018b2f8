"""Every command of `audit`: its name, its help text, and where its function is. Nothing is imported until it is called.

This module is the entry point above both `audit` and `annotation`: its import strings may name either, while neither
imports the other's commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from audit.errors import AuditError


@dataclass(frozen=True)
class Command:
    """One command.

    name      the words after `audit`, such as `study create`
    help      one sentence
    function  `module:function`, (arguments, settings) -> exit code; `function_options(parser)` in that module adds its options
    listed    False for a command that only the program itself starts
    """

    name: str
    help: str
    function: str
    listed: bool = True

    def load(self) -> tuple[Callable[..., int], Callable[[Any], None]]:
        """The command's function, and the one that adds its options; imports their module."""
        return load_object(self.function), load_object(f"{self.function}_options")


GROUPS = {
    "themes": "Group the disagreements of a run into named themes, and list people's edits of them.",
    "positions": "Positions on each question, in the handbooks' own words.",
    "systems": "Answering systems: judge and measure their answers.",
    "stress": "Stress tests of models and judges with missing, noisy, wrong or changed texts.",
    "study": "Studies: blinded samples of pairs, or of two systems' answers, that people label.",
    "account": "Accounts of the people who sign in.",
    "backup": "One archive of what people and models made here and nothing can make again.",
    "journal": "Replies of models that were paid for.",
    "models": "Models on this machine.",
    "example": "Examples that come with the program.",
    "jobs": "Background work that the dashboard started.",
    "help": "Reference texts.",
}
"""First word -> help text, for the commands of two words."""

# In the order in which `audit --help` lists them
COMMANDS = (
    Command(
        "demo", "Write the synthetic demo release, load it, and open the dashboard on it.",
        "audit.cli.dashboard:demo",
    ),
    Command(
        "example tenancy", "Copy the example handbooks and their config to a folder.",
        "audit.cli.dashboard:example_tenancy",
    ),
    Command("check", "Show what loading a release would report, without loading it.", "audit.cli.releases:check"),
    Command("load", "Load a release as a run.", "audit.cli.releases:load"),
    Command("runs", "List the loaded runs, newest first.", "audit.cli.releases:runs"),
    Command("schema", "Print the release format as a JSON Schema.", "audit.cli.releases:schema"),
    Command("serve", "Open the dashboard on the loaded runs.", "audit.cli.dashboard:serve"),
    Command("metrics", "Print one metric of a run, or of two runs.", "audit.cli.metrics:metrics"),
    Command(
        "pairs", "List the pairs that filters select, or write all of them with both answers to a file.",
        "audit.cli.metrics:pairs",
    ),
    Command(
        "export", "Write a run's tables, figures and report as a folder or a ZIP file.",
        "audit.cli.export:export",
    ),
    Command(
        "reproduce", "Print the tables of a source paper beside those of a run, and where the program departs from it.",
        "audit.cli.reproduce:reproduce",
    ),
    Command("run", "Turn handbooks and questions into a loaded run, stage by stage.", "audit.pipeline.cli.run:run"),
    Command("extract", "Turn PDF files into documents: sections with headings.", "audit.pipeline.cli.corpus:extract"),
    Command(
        "questions", "Import questions: check, screen, tag and find near-duplicates.",
        "audit.pipeline.cli.corpus:questions",
    ),
    Command(
        "retrieve", "Find the passages of each handbook that answer each question.",
        "audit.pipeline.cli.retrieve:retrieve",
    ),
    Command("generate", "Answer each question from each handbook's passages.", "audit.pipeline.cli.generate:generate"),
    Command("ask", "Find the passages of each handbook that are closest to one question.", "audit.pipeline.cli.ask:ask"),
    Command(
        "positions build", "Write the positions on every question of a run, from its labels.",
        "audit.pipeline.cli.positions:build",
    ),
    Command("judge", "Judge the pairs of a run again, and write the result as a release.", "audit.pipeline.cli.judge:judge"),
    Command(
        "judge align", "Improve the judge's prompt from a study's labels, and prove it on labels that it has not learnt from.",
        "annotation.cli.alignment:align",
    ),
    Command(
        "within", "Compare each handbook with itself, and write its internal contradictions.",
        "audit.pipeline.cli.within:within",
    ),
    Command(
        "themes build", "Build a taxonomy of a run's divergence topics, or of a list of phrases.",
        "audit.pipeline.cli.themes:build",
    ),
    Command(
        "themes assign", "Assign divergence topics to the themes of an existing taxonomy.",
        "audit.pipeline.cli.themes:assign_topics",
    ),
    Command(
        "themes search", "Find the themes of a run that are closest in meaning to some words.",
        "audit.pipeline.cli.theme_map:search",
    ),
    Command(
        "themes export", "Write the map of a run's themes as Parquet and as one offline HTML page.",
        "audit.pipeline.cli.theme_map:export",
    ),
    Command(
        "themes history", "List or export people's edits of a run's themes.",
        "annotation.cli.theme_edits:history",
    ),
    Command(
        "themes replay", "Apply recorded theme edits to a taxonomy, and list those that no longer fit.",
        "annotation.cli.theme_edits:replay",
    ),
    Command(
        "systems judge", "Judge the answers of systems on eight criteria by a model.",
        "audit.pipeline.cli.systems_judge:judge",
    ),
    Command(
        "systems score", "Measure the answers of systems against reference answers, and their evidence against gold sections.",
        "audit.pipeline.cli.systems:score",
    ),
    Command(
        "stress build", "Build stress tests: questions with signal documents, noise, sub-questions and planted errors.",
        "audit.pipeline.cli.stress_build:build",
    ),
    Command(
        "stress run", "Put the stress tests of a release to a model, or to readers without a model.",
        "audit.pipeline.cli.stress_run:run",
    ),
    Command("stress grade", "Grade the answers to sub-questions by a model.", "audit.pipeline.cli.stress_grade:grade"),
    Command(
        "stress judge", "Plant changes with a known effect in answers, and ask a judge before and after each.",
        "audit.pipeline.cli.stress_judge:judge",
    ),
    Command(
        "models check", "Start a model file on this machine, and say what it can do and how long a run would take.",
        "audit.pipeline.cli.models:check",
    ),
    Command(
        "journal recover", "Save the replies that can still be read of a damaged journal.",
        "audit.pipeline.cli.journal:recover",
    ),
    Command(
        "study create", "Draw a stratified sample from a run and make a study of it: of pairs, or of two systems head-to-head.",
        "annotation.cli.study_creation:create",
    ),
    Command(
        "study reword", "Rewrite the masked answers of a sample in one style by a model, amounts and negations checked.",
        "audit.pipeline.cli.reword:reword",
    ),
    Command(
        "study leakage", "Measure what the style of masked answers gives away of whose they are.",
        "annotation.cli.leakage:leakage",
    ),
    Command(
        "study advance", "Move a study to its next state: calibration, labelling, adjudication, closed.",
        "annotation.cli.study:advance",
    ),
    Command(
        "study release", "Release an annotator's unrated items so that others can take them.",
        "annotation.cli.study:release",
    ),
    Command(
        "study verify", "Check that nothing in a study was altered: ratings, decisions, items, verdicts, strata, state.",
        "annotation.cli.study:verify",
    ),
    Command(
        "study backup", "Copy all studies, ratings and accounts to a file, while people rate, and verify the copy.",
        "annotation.cli.study:backup",
    ),
    Command(
        "study backup-verify", "Check a backup, on any machine: that it can be read, and that nothing in it was altered.",
        "annotation.cli.study:verify_backup",
    ),
    Command(
        "study restore", "Replace all studies with a verified backup, and keep a copy of the replaced data.",
        "annotation.cli.study:restore_backup",
    ),
    Command(
        "backup write", "Write studies, accounts, settings, corrections and models' replies to one archive, and verify it.",
        "annotation.cli.backup:write",
    ),
    Command(
        "backup verify", "Say what a backup holds, and whether each of its parts is as it was written.",
        "annotation.cli.backup:verify",
    ),
    Command(
        "study export", "Write a study's ratings with a codebook, or a packet for an annotator.",
        "annotation.cli.study:export",
    ),
    Command(
        "study import", "Store the ratings of a completed packet: all of them, or none.",
        "annotation.cli.study:import_ratings",
    ),
    Command(
        "agreement", "Measure how well annotators agree with each other and with the judge.",
        "annotation.cli.ratings:agreement",
    ),
    Command(
        "prevalence", "Estimate how common each label is in the whole run, corrected for the judge's errors.",
        "annotation.cli.ratings:corrected_prevalence",
    ),
    Command("account add", "Add an account; the password is asked for.", "annotation.cli.account:add"),
    Command(
        "account password", "Set a new password for an account, and end its sessions.",
        "annotation.cli.account:password",
    ),
    Command("account list", "List the accounts, with role and state.", "annotation.cli.account:list_all"),
    Command("account role", "Give an account another role.", "annotation.cli.account:role"),
    Command(
        "account disable", "Keep an account from signing in, and end its sessions; its ratings stay.",
        "annotation.cli.account:disable",
    ),
    Command("account enable", "Let a disabled account sign in again.", "annotation.cli.account:enable"),
    Command(
        "account rebind", "Let the next verified sign-in at the identity provider bind an account again.",
        "annotation.cli.account:rebind",
    ),
    Command("account sign-out", "End every session of an account.", "annotation.cli.account:sign_out"),
    Command(
        "account reset", "Print a one-time password for an account, and end its sessions.",
        "annotation.cli.account:reset",
    ),
    Command(
        "account log", "Print the access log: sign-ins, failures, exports, changes of accounts.",
        "annotation.cli.account:log",
    ),
    Command(
        "completion", "Print a script that completes commands and options in your shell.",
        "audit.cli.main:completion",
    ),
    Command(
        "help commands", "Print every command with its arguments, as text or as a Markdown table.",
        "audit.cli.main:commands",
    ),
    Command("jobs work", "Carry out one background job in this process.", "audit.cli.dashboard:work", listed=False),
)  # fmt: skip

# What one side asks the other to do, by name: nothing above the wall imports audit.pipeline, and nothing of audit annotation.
ADD_ASKED = "audit.pipeline.asking.keeping:add_as_run"
"""(settings, run, what was asked) -> the new run, for the page Ask."""
WRITE_ASKED = "audit.pipeline.cli.written_answer:write_from_run"
"""(settings, run, what was asked) -> a model's answer from the passages found, for the page Ask."""
DEMO_THEMES = "audit.pipeline.cli.themes:build_lexical_themes"
"""(run, settings, like) -> themes by words, for an `audit demo` that does not ship."""
STUDY_PAIRS = "annotation.cli.study:study_pairs"
"""(study id, settings) -> the pairs of a study, for `audit judge --pairs study:ID`."""
VERSION_DRAFT = "audit.pipeline.judging.versions:version_draft"
"""(rules, lines of examples, protocol) -> the judge's prompt for a person to edit, for `audit judge align`."""
VERSION_EXAMPLES = "audit.pipeline.judging.versions:examples_in"
"""(text) -> the items that a version shows as examples."""
VERSION_CHECKED = "audit.pipeline.judging.versions:checked_version"
"""(text, item -> its texts, name of the file) -> protocol, digest, title and full text of a version."""
PROPOSED_RULES = "audit.pipeline.cli.alignment:proposed_rules"
"""(settings, folder, pairs) -> a model, and the rules that it proposes for a version."""
STUDY_TABLES = "annotation.cli.study:study_tables"
"""(study id, settings) -> the study's part of `audit export --study ID`."""
CURATED_THEMES = "annotation.cli.theme_edits:curated_themes"
"""(run, taxonomy as built, settings) -> what people changed about the themes, or None, for `audit export`."""
DEMO_STUDIES = "annotation.cli.study:make_demo_studies"
"""(run, file of readings, settings) -> what was made, as text and as a record, for `audit demo --studies`."""


PIPELINE = "audit.pipeline"


def load_object(path: str) -> Any:
    """The object at `module:name`; imports the module. Raises AuditError where the pipeline is not installed."""
    module, _, name = path.partition(":")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(PIPELINE):
            raise
        raise AuditError(
            f"{path} makes releases, and this installation can only read them: it has no {PIPELINE}. Nothing was done. "
            "Install the whole package."
        ) from error
