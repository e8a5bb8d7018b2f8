"""Handbooks by a name that a person reads: the parts of organ, center and phase that tell them apart."""

from __future__ import annotations

import pandas as pd

from audit.terms import display_name

PARTS = ("organ", "center", "phase")


def handbook_names(handbooks: pd.DataFrame, without: tuple[str, ...] = ()) -> dict[str, str]:
    """handbook_id -> name, such as `heart · Alder · pre`; parts that all handbooks share, or in `without`, are left out.

    `handbooks` has one or more rows per handbook with handbook_id, organ, center and phase. Two handbooks whose
    three parts are all equal keep their ids too, so that no two go by one name (unless `without` hides what differs).
    """
    single = handbooks.drop_duplicates("handbook_id")
    telling = [part for part in PARTS if part == "center" or (part not in without and single[part].nunique() > 1)]
    names = single[telling].map(display_name).agg(" · ".join, axis=1)
    twins = single[list(PARTS)].duplicated(keep=False)
    names = names.mask(twins, names + " · " + single["handbook_id"])
    return dict(zip(single["handbook_id"], names, strict=True))
