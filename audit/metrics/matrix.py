"""The label of every couple of handbooks on one question, as a square table."""

from __future__ import annotations

import pandas as pd

from audit.metrics.known import question_number
from audit.store.connection import Connection, frame, rows

UNSCORED, NOT_ASKED, SELF = "unscored", "not asked", "self"

SQL = """
select handbook_a, handbook_b, coalesce(label::varchar, 'unscored') as value
from pairs where question = $question
"""


def matrix(con: Connection, question_id: str) -> pd.DataFrame:
    """How every two handbooks relate on one question: the N x N matrix of labels, in release order.

    A cell is the judge's label of the pair (ABSENT also where one of the two does not answer), "unscored" where the
    judge gave no readable verdict, "not asked" where the release has no such pair, and "self" on the diagonal. These
    are different values: a missing verdict is neither agreement nor absence.

    One row and one column per handbook of the run, named by handbook_id; cells are str, one of VALUES. Symmetric.

    Raises NotInRunError when the question is not in the run.
    """
    pairs = frame(con, SQL, {"question": question_number(con, question_id)})
    names = [name for (name,) in rows(con, "select handbook_id from handbooks order by handbook")]
    square = pd.DataFrame(NOT_ASKED, index=names, columns=names, dtype=object).to_numpy(copy=True)
    a, b = pairs["handbook_a"].to_numpy(), pairs["handbook_b"].to_numpy()
    square[a, b] = square[b, a] = pairs["value"].to_numpy(dtype=object)
    square[range(len(names)), range(len(names))] = SELF
    return pd.DataFrame(square, index=names, columns=names)
