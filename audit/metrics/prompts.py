"""The prompts that made a run, in full: what its models were asked to do, for everybody to read."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec

SQL = """
with listed as (
    select manifest -> 'prompts' as prompts from run
), each as (
    select unnest(try_cast(prompts as json[])) as one, generate_subscripts(try_cast(prompts as json[]), 1) as place from listed
), further as (
    select distinct kind, judge, prompt from further_verdicts where prompt is not null
), every as (
    select place, one ->> 'prompt' as prompt, coalesce(one ->> 'used_for', '') as used_for,
           concat_ws(chr(10) || chr(10), one ->> 'system', one ->> 'user') as text,
           try_cast(one ->> 'max_tokens' as integer) as max_tokens, try_cast(one ->> 'temperature' as double) as temperature
    from each where one ->> 'prompt' is not null
    union all
    select null, split_part(prompt, chr(10), 1), if(kind = 'second', 'second judge, ', 'asked again, ') || judge,
           substr(prompt, strpos(prompt, chr(10)) + 2), null, null
    from further
)
select prompt, used_for, text, max_tokens, temperature from every order by place nulls last, used_for, prompt
"""
TABLE = TableSpec(
    "The prompts that made this run",
    (
        Column.text("prompt", "Prompt", "name, version, digest"), Column.text("used_for", "Used for"),
        Column.text("text", "Text"), Column.count("max_tokens", "Longest reply", "tokens"),
        Column.decimal("temperature", "Temperature"),
    ),
    ("A word in curly brackets stands for a text of the corpus.",),
)  # fmt: skip
GLOSSARY = {"prompt": "The instructions that a language model gets before the texts that it reads."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def prompts(con: Connection) -> pd.DataFrame:
    """The prompts that made this run, in full, as its release has them; none in releases of earlier versions.

    One row per prompt and use, in the order of the manifest, then those of further verdicts:
        prompt        str, name, version and digest, as the records of answers and verdicts name it
        used_for      str, 'judge', 'answers', the command that asked, or the second judge or the panel with the judge's name
        text          str, the instructions and what follows them
        max_tokens    int, tokens of a reply, at most; missing where not stated
        temperature   float, likewise
    """
    return frame(con, SQL)
