"""`audit generate`: answers to questions from what retrieval found in each handbook, by a model or by plain rules."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.arguments import count, share
from audit.cli.asking import ask_all, estimate, model_of
from audit.cli.command import FAILED, FINDINGS, OK, add_command
from audit.cli.offline import collect_batch, emit_batch, still_open
from audit.errors import AuditError
from audit.generation import EXTRACTIVE, Extract, Summary, Writing, by_model, extractive, load_prompt
from audit.generation.files import Sources, check_room, read_sources, write_answers
from audit.generation.writing import CONTEXT, WRITTEN
from audit.llm.journal import Journal, journal_path, journal_plan
from audit.llm.limits import StoppedError
from audit.llm.tasks import Replies, stage_cost
from audit.settings import Settings

RULES, MODEL, SHARDS = "extractive", "model", 32
ABOUT = """A question is put to the handbooks of its organ; general questions to all, and all questions to general handbooks.
extractive: the best sentences of the passages, no model. model: AUDIT_JUDGE_URL, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY set the
endpoint, --url and --model another than the judge's. Every reply is stored in DIR.journal, beside the folder, before it is read.
Whatever stops the command: the same command goes on from there and asks nothing twice.
Exit code: 0 all is well, 1 written, but some replies could not be read, some citations lead nowhere or some questions were not
asked, 2 nothing was written."""


def register(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "generate", generate, "Answer questions from each handbook's passages.", ABOUT)
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.set_defaults(prog=command.prog)
    command.add_argument("retrieval", type=Path, metavar="RETRIEVAL_DIR", help="what `audit retrieve` wrote")
    command.add_argument("--questions", type=Path, required=True, metavar="FILE.jsonl", help="what `audit questions` wrote")
    command.add_argument("--documents", type=Path, required=True, metavar="DIR", help="what `audit extract` wrote")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for answers.jsonl and summary.json")
    command.add_argument("--generator", choices=(RULES, MODEL), default=RULES, help="who answers (default: %(default)s)")
    _of_rules(command)
    _of_model(command)


def _of_rules(command: argparse.ArgumentParser) -> None:
    options = command.add_argument_group("extractive")
    known = Extract()
    options.add_argument(
        "--threshold", type=share, default=known.threshold, metavar="SHARE",
        help="of the question's words, by weight, that a sentence and its headings must hold; else NOT ADDRESSED (%(default)s)",
    )  # fmt: skip
    options.add_argument("--sentences", type=count, default=known.sentences, metavar="N", help="at most (%(default)s)")
    options.add_argument("--words", type=count, default=known.words, metavar="N", help="at most (%(default)s)")


def _of_model(command: argparse.ArgumentParser) -> None:
    options = command.add_argument_group("model")
    options.add_argument("--url", action="append", metavar="URL", help="endpoint, again for more (default: AUDIT_JUDGE_URL)")
    options.add_argument("--model", default="", metavar="NAME", help="its name there (default: AUDIT_JUDGE_MODEL)")
    options.add_argument(
        "--context", type=count, default=CONTEXT, metavar="TOKENS",
        help="that the model takes, prompt and answer together; longer evidence is cut, and its answer says so (%(default)s)",
    )  # fmt: skip
    options.add_argument("--templates", type=Path, metavar="DIR", help="own prompt, in a file answer.md")
    way = options.add_mutually_exclusive_group()
    way.add_argument("--dry-run", action="store_true", help="say how many calls, tokens and hours it would take, and do nothing")
    way.add_argument("--parse-again", action="store_true", help="ask nothing, write the answers from the journal as it is")
    way.add_argument("--emit-batch", type=Path, metavar="DIR", help="ask nothing, write shards and a SLURM script for a cluster")
    way.add_argument("--collect", type=Path, metavar="DIR", help="take in what the cluster answered, and say what is missing")
    options.add_argument("--shards", type=count, default=SHARDS, metavar="N", help="of --emit-batch (%(default)s)")
    options.add_argument("--untried", action="store_true", help="with --dry-run: ask nothing, go by the length of texts")


def generate(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit generate RETRIEVAL_DIR --questions FILE --documents DIR --out DIR`"""
    check_room(arguments.out)
    sources = read_sources(arguments.questions, arguments.documents, arguments.retrieval)
    if arguments.generator == RULES:
        return _by_rules(arguments, sources)
    settings = _endpoint(arguments, settings)
    work = _work(arguments, settings, sources)
    if arguments.dry_run:
        return _estimated(arguments, settings, work)
    return (_on_a_cluster if _elsewhere(arguments) else _by_model)(arguments, settings, work, sources)


def _elsewhere(arguments: argparse.Namespace) -> bool:
    return bool(arguments.emit_batch or arguments.collect)


def _endpoint(arguments: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with the generator's endpoint in the judge's place."""
    urls = tuple(url.rstrip("/") for url in arguments.url or settings.judge_urls)
    if not urls and not (arguments.dry_run or arguments.parse_again or _elsewhere(arguments)):
        raise AuditError(
            "No endpoint is set. Nothing was asked. Name an OpenAI-compatible one with --url, such as http://127.0.0.1:8000/v1, "
            "or set AUDIT_JUDGE_URL, or let sentences of the handbook answer: --generator extractive."
        )
    return replace(settings, judge_urls=urls, judge_model=arguments.model or settings.judge_model)


def _work(arguments: argparse.Namespace, settings: Settings, sources: Sources) -> Writing:
    prompt = load_prompt(arguments.templates)
    begun = (journal_plan(journal_path(arguments.out)) or {}).get("model")
    guessed = settings.judge_model or begun or "unknown"
    estimated = arguments.dry_run and (arguments.untried or not settings.judge_urls)
    model = guessed if estimated else model_of(settings, begun, asks=not _elsewhere(arguments))
    return Writing(prompt, model, sources.asked, arguments.context)


# -- ways of answering -------------------------------------------------------------------------------------------------


def _by_rules(arguments: argparse.Namespace, sources: Sources) -> int:
    if _elsewhere(arguments) or arguments.parse_again:
        raise AuditError("The extractive generator asks nothing. Nothing was written. Add --generator model, or leave that out.")
    if arguments.dry_run:
        print(f"{sum(1 for _ in sources.asked()):,} answers of the extractive generator, which asks no model.")
        return OK
    settings = Extract(threshold=arguments.threshold, sentences=arguments.sentences, words=arguments.words)
    asked = tqdm(sources.asked(), desc=RULES, unit="answer", disable=None, dynamic_ncols=True)
    summary = Summary()
    about = {"generator": EXTRACTIVE, "settings": vars(settings)}
    write_answers(arguments.out, extractive(asked, settings), summary, about, sources.missing)
    return _finish(arguments, sources, summary)


def _by_model(arguments: argparse.Namespace, settings: Settings, work: Writing, sources: Sources) -> int:
    servers: list[str] = []
    with Journal(journal_path(arguments.out), work.plan()) as journal:
        try:
            if not arguments.parse_again:
                servers = ask_all(settings, work, journal)
        except (KeyboardInterrupt, StoppedError) as error:
            return _interrupted(arguments, journal, error)
        summary = _write(arguments, work, sources, journal, servers)
    return _finish(arguments, sources, summary)


def _on_a_cluster(arguments: argparse.Namespace, _: Settings, work: Writing, sources: Sources) -> int:
    with Journal(journal_path(arguments.out), work.plan()) as journal:
        if arguments.emit_batch:
            print(emit_batch(arguments.emit_batch, arguments.shards, work, journal.latest))
            return OK
        print(collect_batch(arguments.collect, work.plan(), journal))
        if rest := still_open(work, journal.latest):
            print(rest)
            return FINDINGS
        summary = _write(arguments, work, sources, journal, ["batch"])
    return _finish(arguments, sources, summary)


def _estimated(arguments: argparse.Namespace, settings: Settings, work: Writing) -> int:
    path = journal_path(arguments.out)
    if path.exists():
        with Journal(path, work.plan()) as journal:
            return _estimate(arguments, settings, work, journal.latest)
    return _estimate(arguments, settings, work, lambda _: {})


def _estimate(arguments: argparse.Namespace, settings: Settings, work: Writing, replies: Replies) -> int:
    costs = [stage_cost(stage, work.open_calls(stage, replies), WRITTEN) for stage in work.stages]
    print(estimate(settings, work.model, costs, trial=not arguments.untried).text)
    return OK


def _write(arguments: argparse.Namespace, work: Writing, sources: Sources, journal: Journal, servers: list[str]) -> Summary:
    summary = Summary()
    about = {"generator": work.model, "settings": {**work.plan(), "endpoint": servers}}
    write_answers(arguments.out, by_model(work, journal.latest, summary), summary, about, sources.missing)
    return summary


def _interrupted(arguments: argparse.Namespace, journal: Journal, error: BaseException) -> int:
    said = str(error) if isinstance(error, StoppedError) else "Stopped."
    print(f"\n{arguments.prog}: {said}", file=sys.stderr)
    print(f"{sum(journal.counts().values()):,} replies are stored in {journal.path}.", file=sys.stderr)
    print("The same command goes on from there and asks nothing twice.", file=sys.stderr)
    return FAILED


def _finish(arguments: argparse.Namespace, sources: Sources, summary: Summary) -> int:
    print(f"{arguments.out}: {summary.text(sources.missing.total())}")
    print(f"Its answers: {shlex.quote(str(arguments.out / 'answers.jsonl'))}")
    return OK if summary.clean and not sources.missing else FINDINGS
