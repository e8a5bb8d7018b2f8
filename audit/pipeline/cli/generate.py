"""`audit generate`: answers from the passages found in each handbook, quoted or by a model, or from a model alone."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.conventions import FINDINGS, OK, add_json, count, print_result, temperature
from audit.errors import AuditError
from audit.pipeline.answers.files import GenerationInputs, GenerationSummary, check_output_folder, read_inputs, write_answers
from audit.pipeline.cli.closed_book import answer_closed_book, generator_settings
from audit.pipeline.cli.estimates import handbooks_text
from audit.pipeline.cli.model_calls import add_call_options, model_for, uses_batch
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.generation.model_generator import (
    DEFAULT_CONTEXT,
    answer_task,
    load_answer_prompt,
    model_answers,
)
from audit.pipeline.generation.passage_generator import QUOTED, quoted_answers
from audit.pipeline.generation.system_answers import MAX_TOKENS, TEMPERATURE
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import Replies
from audit.settings import Settings
from audit.vocabulary import PASSAGES_GENERATOR

RETRIEVAL, CLOSED_BOOK = "retrieval", "closed-book"
PASSAGES, MODEL = "passages", "model"
ABOUT = f"""--mode retrieval: each question is asked of the handbooks of its organ; general questions are asked of all
handbooks, and general handbooks get all questions. --generator passages: at most two of the closest passages, quoted, with how
surely they answer; nothing reads them. It needs passages that `audit retrieve --strategy closest` found.
--generator model: --url and --model choose a different endpoint from the judge's.

{about_calls("DIR.journal")}

--mode closed-book: each question is put to a model once, without any handbook, as a patient would ask it. The model may decline,
which is written as refused and never as an answer. DIR becomes a release of one answering system (questions, systems,
system_answers) that `audit load DIR` shows. Several models and modes in one run: [[systems]] in a config, see `audit run --help`.

Exit code: 0 success, 1 written, but some replies could not be parsed, some citations refer to no passage or some questions
were not asked, 2 nothing was written."""


def generate_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit generate`."""
    parser.epilog = ABOUT
    parser.add_argument(
        "retrieval",
        type=Path,
        nargs="?",
        metavar="RETRIEVAL_DIR",
        help="folder that `audit retrieve` wrote (not in a closed book)",
    )
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE.jsonl", help="file that `audit questions` wrote")
    parser.add_argument("--documents", type=Path, metavar="DIR", help="folder that `audit extract` wrote (not in a closed book)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for answers.jsonl and summary.json")
    parser.add_argument(
        "--mode",
        choices=(RETRIEVAL, CLOSED_BOOK),
        default=RETRIEVAL,
        help="what answers are based on: passages of the handbooks, or the model alone (default: %(default)s)",
    )
    parser.add_argument(
        "--generator",
        choices=(PASSAGES, MODEL),
        default=PASSAGES,
        help="how answers are written (default: %(default)s)",
    )
    add_json(parser)
    _add_model_options(parser.add_argument_group("model"))


def _add_model_options(group: Any) -> None:
    group.add_argument(
        "--url", action="append", metavar="URL", help="endpoint to call; repeat for more (default: AUDIT_JUDGE_URL)"
    )
    group.add_argument(
        "--model", default="", metavar="NAME", help="name of the model at the endpoint (default: AUDIT_JUDGE_MODEL)"
    )
    group.add_argument(
        "--context",
        type=count,
        default=DEFAULT_CONTEXT,
        metavar="TOKENS",
        help="context length of the model, prompt and answer together; longer evidence is cut, and the answer says so "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--templates", type=Path, metavar="DIR", help="folder with your own prompt, answer.md, fixed_absence.md or closed_book.md"
    )
    group.add_argument(
        "--fixed-absence",
        action="store_true",
        help="use the prompt that asks for one fixed sentence where a handbook is silent, as the preset paper of `audit run`",
    )
    group.add_argument(
        "--temperature",
        type=temperature,
        metavar="T",
        help=f"randomness of the model's words, 0 to 2 (default: 0; in a closed book {TEMPERATURE})",
    )
    group.add_argument(
        "--max-tokens",
        type=count,
        metavar="N",
        help=f"maximum tokens of an answer (default: the prompt's; in a closed book {MAX_TOKENS})",
    )
    group.add_argument("--system-id", default="", metavar="ID", help="closed book: id of the system (default: MODEL-closed_book)")
    add_call_options(group, "answers")


def generate(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit generate RETRIEVAL_DIR --questions FILE --documents DIR --out DIR`"""
    # Checked first: a wrong --out must not be discovered after hours of calls
    check_output_folder(arguments.out)
    if arguments.mode == CLOSED_BOOK:
        return answer_closed_book(arguments, generator_settings(arguments, settings))
    if arguments.retrieval is None or arguments.documents is None:
        raise AuditError(
            "Answers from handbooks need RETRIEVAL_DIR and --documents. Nothing was asked. Name both, or ask the model alone: "
            f"--mode {CLOSED_BOOK}."
        )
    sources = read_inputs(arguments.questions, arguments.documents, arguments.retrieval)
    if arguments.generator == PASSAGES:
        return _quote_passages(arguments, sources)
    settings = generator_settings(arguments, settings)
    prompt = load_answer_prompt(arguments.templates, fixed_absence=arguments.fixed_absence)
    prompt = replace(
        prompt, temperature=arguments.temperature or prompt.temperature, max_tokens=arguments.max_tokens or prompt.max_tokens
    )
    return _ask_model(arguments, settings, prompt, sources)


# -- ways of answering -------------------------------------------------------------------------------------------------


def _quote_passages(arguments: argparse.Namespace, sources: GenerationInputs) -> int:
    if uses_batch(arguments) or arguments.parse_again:
        raise AuditError(
            f"--generator {PASSAGES} calls no model, so there are no replies to collect or parse. Nothing was written. "
            "Add --generator model, or leave that option out."
        )
    if arguments.dry_run:
        answers = sum(1 for _ in sources.grounded_questions())
        print_result(arguments, f"{answers:,} answers by {PASSAGES_GENERATOR}.", {"answers": answers, "calls": 0})
        return OK
    asked = tqdm(sources.grounded_questions(), desc=PASSAGES, unit="answer", disable=None, dynamic_ncols=True)
    summary = GenerationSummary()
    about = {"generator": PASSAGES_GENERATOR, "settings": {"quoted": QUOTED}}
    write_answers(arguments.out, quoted_answers(asked), summary, about, sources.missing)
    return _finish(arguments, sources, summary)


def _ask_model(arguments: argparse.Namespace, settings: Settings, prompt: Prompt, sources: GenerationInputs) -> int:
    task = answer_task(prompt, model_for(arguments, settings), sources.grounded_questions, arguments.context)

    def write(replies: Replies, servers: list[str]) -> int:
        summary = GenerationSummary()
        about = {"generator": task.model, "settings": {**task.plan(), "endpoint": servers}, "prompts": [prompt.record("answers")]}
        write_answers(arguments.out, model_answers(task, replies, summary), summary, about, sources.missing)
        return _finish(arguments, sources, summary)

    return run_task(
        arguments,
        settings,
        task,
        sends=f"questions and passages of {handbooks_text([document.handbook_id for document in sources.documents])}",
        write=write,
    )


def _finish(arguments: argparse.Namespace, sources: GenerationInputs, summary: GenerationSummary) -> int:
    answers = arguments.out / "answers.jsonl"
    counts = summary.text(sources.missing.total())
    text = f"{arguments.out}: {counts}\nThe answers: {shlex.quote(str(answers))}"
    print_result(arguments, text, {"answers": str(answers), "summary": counts, "not_retrieved": sources.missing.total()})
    return OK if summary.clean and not sources.missing else FINDINGS
