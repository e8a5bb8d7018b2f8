"""`audit study reword`: the masked answers of a sample, rewritten in one style by a model."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from audit.atomic_io import write_atomic
from audit.cli.conventions import FINDINGS, OK, add_json, print_result
from audit.closed_folder import read_plain
from audit.errors import AuditError, describe_error
from audit.pipeline.cli.model_calls import add_call_options, model_for
from audit.pipeline.cli.task_command import about_calls, run_task
from audit.pipeline.generation.rewording import load_rewording_prompt, rewording_task, rewordings
from audit.settings import Settings
from audit.text.rewording import MAX_FILE_BYTES, Rewording

ABOUT = f"""TEXTS is what `audit study create STUDY --dry-run --texts TEXTS` wrote. Draw the same sample with the result:
`audit study create STUDY --reworded FILE`. Where a rewording changes an amount, a negation or a mark of what is masked, the
original is kept and counted. Raters then judge the model's words: whether they say the same besides, no program can tell.

{about_calls("FILE.journal")}

Exit code: 0 success, 1 written, but some originals are kept, 2 nothing was written."""


def reword_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study reword`."""
    parser.epilog = ABOUT
    parser.add_argument("texts", type=Path, metavar="TEXTS", help="masked answers (JSONL)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the answers in other words (JSONL)")
    parser.add_argument("--templates", type=Path, metavar="DIR", help="folder with your own prompt, rewording.md")
    add_call_options(parser, "file")
    add_json(parser)


def reword(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study reword TEXTS --out FILE`"""
    texts = _texts(arguments.texts)
    task = rewording_task(load_rewording_prompt(arguments.templates), model_for(arguments, settings), texts)
    return run_task(
        arguments,
        settings,
        task,
        sends=f"{len(texts):,} masked answers, one in each call",
        write=lambda replies, _: _write(arguments, list(rewordings(task, replies))),
    )


def _texts(path: Path) -> list[str]:
    try:
        return [str(json.loads(line)["text"]) for line in read_plain(path, MAX_FILE_BYTES).splitlines()]
    except OSError as error:
        raise AuditError(f"{path} cannot be read: {describe_error(error)}. Nothing was written.") from None
    except (ValueError, KeyError, TypeError):
        raise AuditError(
            f"{path} is not a file of texts. Nothing was written. Write one with: audit study create STUDY --dry-run --texts FILE"
        ) from None


def _write(arguments: argparse.Namespace, found: list[Rewording]) -> int:
    lines = [json.dumps(one.record(), ensure_ascii=False) + "\n" for one in found]
    write_atomic(arguments.out, "".join(lines))
    kept = Counter(one.reason for one in found if one.reason)
    sentences = [f"{arguments.out}: {len(found) - kept.total():,} of {len(found):,} texts in other words, the rest as they were."]
    sentences += [f"Kept, {reason}: {count:,}" for reason, count in kept.most_common()]
    print_result(arguments, "\n".join(sentences), {"file": str(arguments.out), "texts": len(found), "kept": dict(kept)})
    return FINDINGS if kept else OK
