"""`audit judge`: a model, or plain rules, judge the pairs of a loaded run, and the result is a release."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.cli.arguments import count
from audit.cli.asking import Estimate, ask_all, estimate, model_of
from audit.cli.command import FAILED, FINDINGS, OK, add_command
from audit.cli.judge_bench import judged_by_model, judged_by_rules
from audit.cli.judge_source import Triple, pairs_by_lot, pairs_from, read_corpus
from audit.cli.judge_status import ENDED, LOADING, Status, told_to_the_end
from audit.cli.offline import collect_batch, emit_batch, still_open
from audit.errors import AuditError
from audit.judging.corpus import Corpus, first_pairs
from audit.judging.costs import costs, pairs_to_ask, remarks
from audit.judging.outcome import check_room
from audit.judging.prompts import load_prompts
from audit.judging.protocols import CHECK, KEEP, STAGES, Protocol
from audit.judging.records import Summary
from audit.judging.sitting import Sitting
from audit.llm.journal import Journal, journal_path, journal_plan
from audit.llm.limits import StoppedError
from audit.llm.tasks import Replies
from audit.settings import Settings
from audit.store.connection import open_store
from audit.store.load import load_release
from audit.store.runs import find_run

SAMPLED, SAMPLE, SHARDS = "sample", 200, 32
ABOUT = """Every reply is stored in RELEASE.journal, beside the release, before it is read. Whatever stops the command: the same
command goes on from there and asks nothing twice. AUDIT_JUDGE_URL, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY set the endpoint.
Exit code: 0 all is well, 1 written, but some pairs are unscored or were not asked, 2 nothing was written."""

Sources = Mapping[str, Callable[[str, Settings], Sequence[Triple]]]
"""What may stand before the colon in `--pairs NAME:ID`, beside `sample`: (ID, settings) -> pairs."""


def register(commands: Any, sources: Sources | None = None) -> None:
    """Add the command; whoever knows other ways to choose pairs hands them over as `sources`."""
    command = add_command(commands, "judge", judge, "Judge the pairs of a run anew, and write the result as a release.", ABOUT)
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.set_defaults(sources=sources or {}, prog=command.prog)
    command.add_argument("run", metavar="RUN", help="run id or key")
    command.add_argument(
        "--out", type=Path, required=True, metavar="RELEASE", help="folder to write, such as data/releases/again"
    )
    command.add_argument("--pairs", type=_pairs_named, default="all", metavar="WHICH", help=_which(sources or {}))
    command.add_argument("--protocol", choices=tuple(STAGES), default="structured", help="one call a pair, or the label first")
    command.add_argument(
        "--absence", choices=(KEEP, CHECK), default=KEEP, help="keep the run's absence flags (default), or check every answer"
    )
    command.add_argument("--swap", action="store_true", help="judge each pair in the other order too")
    command.add_argument("--blind-centers", action="store_true", help="and with the names of centers and handbooks masked")
    command.add_argument("--repeat", type=count, default=0, metavar="N", help="and N times more")
    command.add_argument("--limit", type=count, metavar="N", help="only the first N pairs that need a judge")
    command.add_argument(
        "--templates", type=Path, metavar="DIR", help="own prompts, in files named as those of audit/judging/templates"
    )
    _ways(command)


def _ways(command: argparse.ArgumentParser) -> None:
    way = command.add_mutually_exclusive_group()
    way.add_argument("--dry-run", action="store_true", help="say how many calls, tokens and hours it would take, and do nothing")
    way.add_argument("--baseline", action="store_true", help="let plain rules judge; no model is asked")
    way.add_argument("--parse-again", action="store_true", help="ask nothing, write the release from the journal as it is")
    way.add_argument("--emit-batch", type=Path, metavar="DIR", help="ask nothing, write shards and a SLURM script for a cluster")
    way.add_argument("--collect", type=Path, metavar="DIR", help="take in what the cluster answered, and say what is missing")
    command.add_argument("--shards", type=count, default=SHARDS, metavar="N", help=f"of --emit-batch, one task each ({SHARDS})")
    command.add_argument(
        "--untried", action="store_true", help="with --dry-run: ask the endpoint nothing, go by the length of texts"
    )
    _aftermath(command)


def _aftermath(command: argparse.ArgumentParser) -> None:
    load = command.add_mutually_exclusive_group()
    load.add_argument("--load", action="store_true", help="load the release as a run when it is written")
    load.add_argument("--load-into", type=Path, metavar="DIR", help="the same, into another data folder")
    command.add_argument(
        "--progress", type=lambda text: Status(Path(text)), default=Status(), metavar="FILE",
        help="keep how far it is, what --dry-run found, and at the end what is to be said, in FILE as JSON",
    )  # fmt: skip


def _which(sources: Sources) -> str:
    named = "".join(f", {name}:ID" for name in sources)
    elsewhere = "" if "study" in sources else "; `annotation judge` takes study:ID too"
    return (
        f"all (default); sample or sample:N, drawn by lot from those that a judge was asked about (N: {SAMPLE}){named}; "
        f"or a CSV file with the columns question_id, handbook_a, handbook_b{elsewhere}"
    )


def _pairs_named(text: str) -> str:
    """What --pairs may say: a sample has a number from 1 on, or none."""
    name, _, rest = text.partition(":")
    if name == SAMPLED and rest:
        try:
            count(rest)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"of '{text}', {error}; a file of that name is ./{text}") from None
    return text


def judge(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit judge RUN --out RELEASE`"""
    with told_to_the_end(arguments.progress):
        code = _carry_out(arguments, settings)
    arguments.progress.tell(phase=ENDED, code=code)
    return code


def _carry_out(arguments: argparse.Namespace, settings: Settings) -> int:
    run = find_run(settings.store_dir, arguments.run)
    check_room(arguments.out)
    with open_store(run.path) as con:
        pairs, selection = _pairs(arguments, settings, con)
        corpus = read_corpus(con, run, pairs, selection)
        if arguments.limit:
            corpus = first_pairs(corpus, arguments.limit)
        if arguments.baseline:
            return _by_rules(arguments, settings, corpus)
        protocol = _protocol(arguments, settings)
        if arguments.dry_run:
            return _estimated(arguments, settings, protocol, corpus)
        return (_on_a_cluster if _elsewhere(arguments) else _by_model)(arguments, settings, protocol, corpus)


def _elsewhere(arguments: argparse.Namespace) -> bool:
    return bool(arguments.emit_batch or arguments.collect)


def _pairs(arguments: argparse.Namespace, settings: Settings, con: Any) -> tuple[Sequence[Triple] | None, str]:
    """The pairs that were chosen (None: all), and how, in words."""
    name, _, rest = arguments.pairs.partition(":")
    if arguments.pairs == "all":
        return None, "all"
    if name == SAMPLED:
        drawn = int(rest or SAMPLE)
        return pairs_by_lot(con, drawn), f"sample:{drawn}"
    if rest and name in arguments.sources:
        return arguments.sources[name](rest, settings), arguments.pairs
    if name == "study":
        raise AuditError(f"Studies are known to `annotation judge`, which takes --pairs {arguments.pairs}. Nothing was asked.")
    triples, digest = pairs_from(Path(arguments.pairs))
    return triples, f"file {Path(arguments.pairs).name} ({digest})"


def _protocol(arguments: argparse.Namespace, settings: Settings) -> Protocol:
    prompts = load_prompts(arguments.templates)
    begun = (journal_plan(journal_path(arguments.out)) or {}).get("model")
    estimated = arguments.dry_run and (arguments.untried or not settings.judge_urls)
    model = (
        (settings.judge_model or begun or "unknown") if estimated else model_of(settings, begun, asks=not _elsewhere(arguments))
    )
    return Protocol(
        arguments.protocol, model, prompts, arguments.absence,
        swap=arguments.swap, blind=arguments.blind_centers, repeats=arguments.repeat,
    )  # fmt: skip


# -- ways of judging ---------------------------------------------------------------------------------------------------


def _by_rules(arguments: argparse.Namespace, settings: Settings, corpus: Corpus) -> int:
    if arguments.swap or arguments.blind_centers or arguments.repeat or arguments.absence == CHECK:
        raise AuditError(
            "The baseline judge asks nothing, so it has nothing to check. Nothing was written. Leave those options out."
        )
    return _finish(arguments, settings, judged_by_rules(arguments.out, corpus, arguments.progress))


def _by_model(arguments: argparse.Namespace, settings: Settings, protocol: Protocol, corpus: Corpus) -> int:
    sitting, servers = Sitting(protocol, corpus), list[str]()
    with Journal(journal_path(arguments.out), sitting.plan()) as journal:
        try:
            if not arguments.parse_again:
                servers = ask_all(settings, sitting, journal, arguments.progress.asked)
        except (KeyboardInterrupt, StoppedError) as error:
            return _interrupted(arguments, journal, error)
        summary = judged_by_model(arguments.out, sitting, journal, servers, arguments.progress)
    return _finish(arguments, settings, summary)


def _on_a_cluster(arguments: argparse.Namespace, settings: Settings, protocol: Protocol, corpus: Corpus) -> int:
    sitting = Sitting(protocol, corpus)
    with Journal(journal_path(arguments.out), sitting.plan()) as journal:
        if arguments.emit_batch:
            print(emit_batch(arguments.emit_batch, arguments.shards, sitting, journal.latest))
            return OK
        print(collect_batch(arguments.collect, sitting.plan(), journal))
        if rest := still_open(sitting, journal.latest):
            print(rest)
            return FINDINGS
        summary = judged_by_model(arguments.out, sitting, journal, ["batch"], arguments.progress)
    return _finish(arguments, settings, summary)


def _interrupted(arguments: argparse.Namespace, journal: Journal, error: BaseException) -> int:
    said = str(error) if isinstance(error, StoppedError) else "Stopped."
    arguments.progress.tell(said=said)
    stored = sum(journal.counts().values())
    print(f"\n{arguments.prog}: {said}", file=sys.stderr)
    print(f"{stored:,} replies are stored in {journal.path}. Go on with:\n  {_same_command(arguments)}", file=sys.stderr)
    return FAILED


def _same_command(arguments: argparse.Namespace) -> str:
    valued = ("out", "pairs", "protocol", "absence", "repeat", "limit", "templates", "load_into")
    flags = ("swap", "blind_centers", "load")
    parts = [*arguments.prog.split(), arguments.run]
    for name in valued:
        if getattr(arguments, name):
            parts += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    parts += [f"--{name.replace('_', '-')}" for name in flags if getattr(arguments, name)]
    return shlex.join(parts)


def _estimated(arguments: argparse.Namespace, settings: Settings, protocol: Protocol, corpus: Corpus) -> int:
    path = journal_path(arguments.out)
    if path.exists():
        with Journal(path, Sitting(protocol, corpus).plan()) as journal:
            found = _estimate(arguments, settings, protocol, corpus, journal.latest)
    else:
        found = _estimate(arguments, settings, protocol, corpus, lambda _: {})
    print(found.text)
    arguments.progress.tell(estimate=found.figures)
    return OK


def _estimate(
    arguments: argparse.Namespace, settings: Settings, protocol: Protocol, corpus: Corpus, replies: Replies
) -> Estimate:
    stages = costs(protocol, corpus, replies)
    found = estimate(settings, protocol.model, stages, trial=not arguments.untried, remarks=remarks(stages))
    pairs, to_ask = pairs_to_ask(protocol, corpus)
    return replace(found, figures={**found.figures, "pairs": pairs, "without_call": pairs - to_ask})


# -- the release -------------------------------------------------------------------------------------------------------


def _finish(arguments: argparse.Namespace, settings: Settings, summary: Summary) -> int:
    print(f"{arguments.out}: {summary.said}")
    for reason, pairs in summary.unscored.most_common():
        print(f"  unscored, {reason}: {pairs:,}")
    arguments.progress.became(summary)
    if arguments.load or arguments.load_into:
        arguments.progress.tell(phase=LOADING)
        loaded = load_release(arguments.out, replace(settings, data_dir=arguments.load_into or settings.data_dir))
        print(f"Run {loaded.run.key}: {loaded.run.report['verdict']}")
    else:
        print(f"Load it with: audit load {shlex.quote(str(arguments.out))}")
    return FINDINGS if summary.unscored or summary.not_asked else OK
