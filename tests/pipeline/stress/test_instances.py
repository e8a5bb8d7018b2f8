"""An instance of a stress test and its record."""

from audit.pipeline.stress.instances import StressDocument, StressInstance, instance_of
from audit.vocabulary import StressTest


def test_an_instance_comes_back_from_its_record():
    edited = StressDocument(
        "d1~edited", "Wait 9 months.", True, False, "d1", {"kind": "amount", "before": "3", "after": "9", "start": 5},
        "Which length of time belongs in the gap?", "3 months", "9 months",
    )  # fmt: skip
    noise = StressDocument("d2", "Eat well.", False)
    instance = StressInstance(
        "i1", StressTest.ROBUSTNESS, "q1", "How long?", "A", 50, 5, {"A": "yes", "B": "no"}, (edited, noise), "own", 7
    )
    assert instance_of(instance.record()) == instance
    assert noise.record() == {"document_id": "d2", "text": "Eat well.", "is_signal": False, "is_factual": True}
