"""What is still to be asked, and the sample of it that a trial makes, counted by hand."""

from __future__ import annotations

from collections.abc import Iterator

from audit.pipeline.llm.calls import ANSWERED, FAILED, Call
from audit.pipeline.llm.tasks import MAX_SAMPLE, MIN_SAMPLE, no_replies, stage_cost
from audit.release.journal_files import Reply


def call(length: int, number: int = 0) -> Call:
    texts = (f"{number:08}".ljust(100, "x"), "x" * (length - 100))
    return Call({"messages": [{"content": text} for text in texts]}, "q1", "judge")


def calls(count: int) -> Iterator[Call]:
    return (call(400, number) for number in range(count))


def test_calls_and_their_characters_are_counted_and_the_longest_is_kept() -> None:
    cost = stage_cost("judge", (call(length, n) for n, length in enumerate((400, 900, 300, *[400] * 20))))
    assert (cost.calls, cost.characters) == (23, 400 + 900 + 300 + 20 * 400)
    assert cost.longest == call(900, 1)


def test_the_sample_is_a_tenth_within_bounds_and_the_same_each_time() -> None:
    few, some, many = (stage_cost("judge", calls(count)).sample for count in (5, 400, 10_000))
    assert (len(few), len(some), len(many)) == (5, 40, MAX_SAMPLE)
    assert len(stage_cost("judge", calls(20)).sample) == MIN_SAMPLE
    assert many == stage_cost("judge", calls(10_000)).sample
    numbers = [int(one.body["messages"][0]["content"][:8]) for one in many]
    assert min(numbers) < 2_000  # from all parts of the run
    assert max(numbers) > 8_000


def test_what_is_stored_is_done_and_a_failed_call_is_asked_again() -> None:
    first, second, third, fourth = calls(4)
    replies = {
        first.key: Reply(first.key, ANSWERED, text="fine"),
        second.key: Reply(second.key, ANSWERED, text="blurred"),
        third.key: Reply(third.key, FAILED),
    }

    def latest(keys):
        return {key: replies[key] for key in keys if key in replies}

    cost = stage_cost("judge", calls(4), latest, lambda _, reply: reply.text == "fine", written=9)
    assert (cost.done, cost.calls, cost.characters) == (1, 3, 3 * 400)
    assert {one.key for one in cost.sample} == {second.key, third.key, fourth.key}  # an unreadable reply is asked for once more
    assert cost.stored == tuple((one, replies[one.key]) for one in (first, second, third))
    assert stage_cost("judge", calls(4), no_replies, lambda *_: True, written=9).done == 0
