"""Tokens and seconds of answers and verdicts, and their cost at given prices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.metrics import metric
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

INPUT, OUTPUT, SECONDS, GPU_HOURS = "input tokens", "output tokens", "seconds", "GPU hours"
MILLION = 1_000_000
SQL = f"""
with records as (
    select 'answers' as step, input_tokens, output_tokens, latency_s from answers
    union all
    select 'verdicts', input_tokens, output_tokens, latency_s from pairs where not prescreened
),
measured as (
    select step, 0 as place, '{INPUT}' as figure, input_tokens::double as amount from records
    union all
    select step, 1, '{OUTPUT}', output_tokens::double from records
    union all
    select step, 2, '{SECONDS}', latency_s::double from records
)
select step, figure, count(*) as records, count(amount) as stated, sum(amount) as total, avg(amount) as mean,
       median(amount) as median, max(amount) as highest
from measured
group by step, place, figure
union all
select 'run', '{GPU_HOURS}', 1, 1, (manifest ->> 'gpu_hours')::double, null, null, null
from run
where try_cast(manifest ->> 'gpu_hours' as double) is not null
order by step, figure
"""
TABLE = TableSpec(
    "Resources used by the models",
    (
        Column.text("step", "For"), Column.text("figure", "What"), Column.count("records", "Records"),
        Column.count("stated", "Stated for", "records"), Column.decimal("total", "Total"), Column.decimal("mean", "Mean"),
        Column.decimal("median", "Median"), Column.decimal("highest", "Highest"), Column.decimal("cost", "Cost"),
    ),
    (
        "For verdicts: pairs that the judge was asked about; pre-screened pairs cost nothing. A dash: the release does not state "
        "it. If only some records state it, the total covers those.",
        "Seconds until each reply arrived; calls run in parallel, so their sum is not the duration of the run.",
        "Cost: total tokens at the prices per million that were given.",
    ),
)  # fmt: skip
GLOSSARY = {"token": "The piece of a word in which a language model reads and writes; use of a model is billed by tokens."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def model_cost(con: Connection, input_price: str = "", output_price: str = "") -> pd.DataFrame:
    """Tokens and seconds that the generator's answers and the judge's verdicts took, as the release states them.

    input_price, output_price  of a million tokens, in any currency; empty: unknown

    One row per step ('answers', 'verdicts') and figure ('input tokens', 'output tokens', 'seconds'), and one (step 'run') of
    the GPU hours where the manifest states `gpu_hours`:
        step, figure           str
        records, stated        int, records that a model may have written (answers; pairs that were not pre-screened), and
                               those that state the figure
        total                  float, tokens, seconds or hours, of the records that state it; NaN where none does
        mean, median, highest  float, per record that states it
        cost                   float, total x price / 1,000,000; NaN without a price

    Raises AuditError where a price is not a number of at least 0.
    """
    prices = {INPUT: _price("input_price", input_price), OUTPUT: _price("output_price", output_price)}
    table = frame(con, SQL)
    return table.assign(cost=table["total"] * table["figure"].map(prices).astype(float) / MILLION)


def _price(name: str, text: str) -> float:
    try:
        price = float(text) if text else np.nan
    except ValueError:
        price = -1.0
    if price < 0 or np.isinf(price):
        raise AuditError(
            f"{name} is {text[:40]!r}, and must be a number of at least 0: the price of a million tokens. Nothing was computed."
        )
    return price
