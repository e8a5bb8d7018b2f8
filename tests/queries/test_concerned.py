import itertools

import pytest

from audit.queries.concerned import concerned
from audit.store.connection import rows
from audit.vocabulary import concerns

ORGANS = ("kidney", "lung", "general")


@pytest.mark.parametrize(("question", "handbook"), list(itertools.product(ORGANS, ORGANS)))
def test_in_sql_a_question_concerns_the_handbooks_that_it_concerns_in_python(question, handbook, tmp_path):
    from tests.support.tiny_store import store_from

    con = store_from(tmp_path, "q1 kidney a=present b=present")
    ((found,),) = rows(
        con, f"select {concerned('q', 'h')} from (select '{question}' as organ) q, (select '{handbook}' as organ) h"
    )
    assert found == concerns(question, handbook)
