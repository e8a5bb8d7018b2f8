"""`audit study create`: draw a sample from a run and make a study of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from annotation.cli.study import write_out
from annotation.label_store.engine import StudyError, open_label_store
from annotation.label_store.studies import MAX_RATINGS_PER_ITEM, RATINGS_PER_ITEM, ItemKind
from annotation.schemes import HEAD_TO_HEAD, PAIRS, SCHEMES
from annotation.studies.first_in_line import REASONS
from annotation.studies.head_to_head import QUESTIONS_PER_COUPLE, HeadToHeadPlan, draw_head_to_head, draw_head_to_head_study
from annotation.studies.leakage import leakage_sentence
from annotation.studies.registration import PRIMARY_FIGURES, Registration
from annotation.studies.rewordings import in_other_words, rewording_words, texts_to_reword
from annotation.studies.sample_plan import DESIGNS, ITEMS_PER_LABEL, MAX_STUDY_ITEMS, SECOND_CRITERIA, SamplePlan
from annotation.studies.sampling import DrawnSample, draw_sample, draw_study, preview_study
from audit.cli.conventions import add_json, add_run, print_result
from audit.settings import Settings
from audit.store.runs import find_run
from audit.text.rewording import read_rewordings
from audit.vocabulary import LABELS, RATERS, Raters


def create_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit study create`, a study of either scheme."""
    parser.add_argument(
        "--scheme",
        choices=SCHEMES,
        default=PAIRS.name,
        help="pairs: how do two handbooks' answers relate; head-to-head: which system's answer is better (default: %(default)s)",
    )
    _common_options(parser)
    _pair_options(parser.add_argument_group("pairs"))
    group = parser.add_argument_group("head-to-head")
    group.add_argument("--systems", nargs="+", default=[], metavar="SYSTEM", help="ids of two systems of the run, or more")
    group.add_argument(
        "--questions",
        type=int,
        default=QUESTIONS_PER_COUPLE,
        metavar="N",
        help="questions for each two systems, spread over the types of question (default: %(default)s)",
    )


def _reworded_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reworded",
        type=Path,
        metavar="FILE",
        help="show raters the answers in other words, as `audit study reword` wrote them; an original whose amounts or negations "
        "would change is kept and counted",
    )
    parser.add_argument("--texts", type=Path, metavar="FILE", help="for --dry-run: write the answers for `audit study reword`")


def _common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="id of the new study, such as validation-1")
    parser.add_argument(
        "--annotators",
        required=True,
        metavar="NAME,NAME",
        help="one account per rating of an item; with more accounts, annotators share the items",
    )
    parser.add_argument(
        "--ratings-per-item",
        type=int,
        default=RATINGS_PER_ITEM,
        metavar="N",
        help=f"how many annotators rate each item, {RATINGS_PER_ITEM} to {MAX_RATINGS_PER_ITEM} (default: %(default)s)",
    )
    parser.add_argument(
        "--raters",
        choices=tuple(map(str, RATERS)),
        default=Raters.UNKNOWN.value,
        help="what the annotators are; every figure from their ratings says so (default: %(default)s)",
    )
    add_run(parser)
    parser.add_argument("--title", help="title shown to investigators (default: the id)")
    parser.add_argument(
        "--calibration",
        type=int,
        default=SamplePlan.calibration,
        metavar="N",
        help="items to practise on before the study (default: %(default)s)",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=SamplePlan.repeats,
        metavar="N",
        help="items shown a second time without notice (default: %(default)s)",
    )
    parser.add_argument(
        "--mask",
        action="append",
        default=[],
        metavar="NAME",
        help="also mask this name in the answers, besides those of the run; may be repeated (--dry-run lists what is masked)",
    )
    add_shown(parser)
    _reworded_options(parser)
    parser.add_argument("--seed", type=int, default=SamplePlan.seed, help="seed of the sample")
    parser.add_argument("--dry-run", action="store_true", help="print the strata, and create nothing")
    parser.add_argument("--yes", action="store_true", help=f"create a study of more than {MAX_STUDY_ITEMS:,} items")
    add_json(parser)


def add_shown(parser: argparse.ArgumentParser) -> None:
    """The options of how answers are shown to raters, besides their names."""
    parser.add_argument(
        "--mask-phrases",
        action="store_true",
        help="also mask openings, closings and phrases that only one handbook's answers have, and names of bodies above them all",
    )
    parser.add_argument(
        "--statements",
        type=int,
        default=0,
        metavar="N",
        help="show N sentences of each answer in place of it: of those that bear on the question and the other answer, the ones "
        "that tell least whose they are (default: whole answers)",
    )


def _pair_options(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--per-label", type=int, default=ITEMS_PER_LABEL, metavar="N", help="items for each label (default: %(default)s)"
    )
    parser.add_argument(
        "--items", action="append", default=[], metavar="LABEL=N", help="a different number for one label, such as ABSENT=20"
    )
    parser.add_argument(
        "--design-for",
        choices=DESIGNS,
        default="",
        help="divide --total items over the labels so that this figure is as precise as possible (default: --per-label of each)",
    )
    parser.add_argument("--total", type=int, default=len(LABELS) * ITEMS_PER_LABEL, metavar="N", help="default: %(default)s")
    reasons = "; ".join(reason.sentence for reason in REASONS)
    parser.add_argument(
        "--first-in-line", type=float, default=0.0, metavar="SHARE",
        help=f"at most this share of the items goes first to pairs that there is a reason to doubt ({reasons})",
    )  # fmt: skip
    parser.add_argument("--by", choices=SECOND_CRITERIA, help="a second criterion to stratify by")
    parser.add_argument(
        "--after",
        action="append",
        default=[],
        metavar="STUDY",
        help="exclude the pairs of this earlier study of the run, to extend it; may be repeated",
    )
    parser.add_argument(
        "--primary",
        choices=PRIMARY_FIGURES,
        help="register the primary figure before the study opens; it cannot be changed later",
    )
    parser.add_argument(
        "--at-least", type=float, metavar="VALUE", help="the threshold that the primary figure is expected to reach"
    )
    parser.add_argument(
        "--look-at", type=float, action="append", default=[], metavar="SHARE",
        help="register a look before the end, when this share of the items is rated; may be repeated",
    )  # fmt: skip
    parser.add_argument("--statement", default="", metavar="TEXT", help="the expectation and its reason, registered with it")
    parser.add_argument("--show-names", action="store_true", help="show annotators which handbook an answer is from")


def _create_of_pairs(arguments: argparse.Namespace, settings: Settings) -> int:
    plan = _plan(arguments)
    # A study's store is opened for a dry run only where earlier studies are named: opening it creates it
    draw = partial(preview_study, open_label_store(settings.studies_url)) if plan.after else draw_sample
    return _create(arguments, settings, partial(draw, plan=plan), partial(draw_study, plan=plan))


def create(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit study create STUDY --scheme SCHEME --annotators A,B`"""
    if arguments.scheme == PAIRS.name:
        if arguments.systems:
            raise StudyError(f"--systems requires --scheme {HEAD_TO_HEAD.name}. Nothing was drawn.")
        return _create_of_pairs(arguments, settings)
    own = ("items", "by", "after", "primary", "design_for", "first_in_line", "show_names")
    if any(getattr(arguments, name) for name in own):
        options = ", ".join(f"--{name.replace('_', '-')}" for name in own)
        raise StudyError(f"{options} require --scheme {PAIRS.name}. Nothing was drawn.")
    plan = HeadToHeadPlan(
        systems=tuple(arguments.systems), questions=arguments.questions, seed=arguments.seed,
        calibration=arguments.calibration, repeats=arguments.repeats, masked_words=tuple(arguments.mask),
        phrases_masked=arguments.mask_phrases, statements=arguments.statements,
    )  # fmt: skip
    return _create(arguments, settings, partial(draw_head_to_head, plan=plan), partial(draw_head_to_head_study, plan=plan))


def _create(
    arguments: argparse.Namespace,
    settings: Settings,
    draw: Callable[..., DrawnSample],
    draw_and_create: Callable[..., DrawnSample],
) -> int:
    run = find_run(settings.store_dir, arguments.run)
    known = read_rewordings(arguments.reworded) if arguments.reworded else None
    max_items = None if arguments.yes else MAX_STUDY_ITEMS
    # Before the label store is opened, which would create it.
    if arguments.dry_run:
        drawn = draw(run, study_id=arguments.study, max_items=max_items)
        if arguments.texts:
            write_out(arguments.texts, {arguments.texts.suffix.lower(): texts_to_reword(drawn).encode})
        drawn = drawn if known is None else in_other_words(drawn, known)
        given_away = leakage_sentence(drawn) if drawn.masking else ""
        text = "\n".join(filter(None, (_strata_text(drawn), given_away)))
        return print_result(arguments, text, {**_strata_record(drawn), "leakage": given_away})
    annotators = [name.strip().casefold() for name in arguments.annotators.split(",") if name.strip()]
    drawn = draw_and_create(
        open_label_store(settings.studies_url), run, study_id=arguments.study, title=arguments.title or arguments.study,
        annotators=annotators, now=datetime.now(UTC), max_items=max_items, ratings_per_item=arguments.ratings_per_item,
        raters=Raters(arguments.raters), present=partial(in_other_words, known=known) if known else lambda sample: sample,
    )  # fmt: skip
    created = f"Study '{arguments.study}' was created from run {run.key}. {', '.join(annotators)} can start: audit serve"
    record = {
        "study": arguments.study,
        "run": run.key,
        "annotators": annotators,
        "ratings_per_item": arguments.ratings_per_item,
        **_strata_record(drawn),
    }
    return print_result(arguments, f"{_strata_text(drawn)}\n\n{created}", record)


def _plan(arguments: argparse.Namespace) -> SamplePlan:
    per_label = dict.fromkeys(map(str, LABELS), arguments.per_label)
    for text in arguments.items:
        label, _, count = text.partition("=")
        if not count.strip().isdigit():
            raise StudyError(f"--items {text}: expected LABEL=NUMBER, such as ABSENT=20. Nothing was drawn.")
        per_label[label.strip().upper()] = int(count)
    return SamplePlan(
        seed=arguments.seed, per_label=per_label, second=arguments.by, calibration=arguments.calibration,
        repeats=arguments.repeats, names_shown=arguments.show_names, masked_words=tuple(arguments.mask),
        phrases_masked=arguments.mask_phrases, statements=arguments.statements,
        registration=_registration(arguments),
        after=tuple(arguments.after),
        design_for=arguments.design_for,
        first_in_line=arguments.first_in_line,
        items=arguments.total if arguments.design_for else 0,
    )  # fmt: skip


def _registration(arguments: argparse.Namespace) -> Registration | None:
    if arguments.primary is None:
        if arguments.at_least is not None or arguments.statement or arguments.look_at:
            raise StudyError("--at-least, --look-at and --statement require --primary. Nothing was drawn.")
        return None
    if arguments.at_least is None:
        raise StudyError("--primary needs --at-least, the threshold that the figure is expected to reach. Nothing was drawn.")
    return Registration(arguments.primary, arguments.at_least, arguments.statement, tuple(arguments.look_at))


def _strata_text(drawn: DrawnSample) -> str:
    pairs = "per_label" in drawn.origin.plan
    width = max(32, *(len(stratum.stratum) + 2 for stratum in drawn.strata))
    lines = [f"{'stratum':<{width}}{'pairs N_h' if pairs else 'N_h':>12}{'items n_h':>12}{'weight':>12}"]
    lines += [
        f"{stratum.stratum:<{width}}{stratum.population:>12,}{stratum.sampled:>12,}{stratum.weight:>12,.2f}"
        for stratum in drawn.strata
    ]
    study, calibration, repeats = _items_by_kind(drawn)
    lines.append(f"{study} study items, {calibration} for calibration, {repeats} repeats.")
    if pairs:
        empty = [label for label in LABELS if label not in {stratum.label for stratum in drawn.strata}]
        lines.append(f"No pair of the run is {', '.join(empty)}." if empty else "Every label occurs in the run.")
    lines.append(drawn.not_drawn_text())
    lines += [words] if (words := rewording_words(drawn.origin.plan)) else []
    lines += [drawn.names_left_text()] if drawn.names_left_text() else []
    if masking := drawn.masking:
        lines += list(filter(None, (masking.sentence(), masking.organisations_sentence())))
    return "\n".join(lines)


def _items_by_kind(drawn: DrawnSample) -> list[int]:
    kinds = [item.kind for item in drawn.items]
    return [kinds.count(kind) for kind in (ItemKind.STUDY, ItemKind.CALIBRATION, ItemKind.REPEAT)]


def _strata_record(drawn: DrawnSample) -> dict[str, object]:
    strata = [
        {"stratum": stratum.stratum, "pairs": stratum.population, "items": stratum.sampled, "weight": stratum.weight}
        for stratum in drawn.strata
    ]
    counts = dict(zip(("study_items", "calibration_items", "repeats"), _items_by_kind(drawn), strict=True))
    run = {"unscored_pairs": drawn.origin.unscored, "run_pairs": drawn.origin.pairs}
    return {"strata": strata, **counts, **run, "names_left": dict(drawn.names_left), **_masking_record(drawn)}


def _masking_record(drawn: DrawnSample) -> dict[str, object]:
    if drawn.masking is None:
        return {}
    return {"masked": drawn.masking.masked.to_dict("records"), "organisations_left": drawn.masking.organisations}
