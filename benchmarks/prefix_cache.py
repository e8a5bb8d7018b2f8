"""How much of the prompts a server's prefix cache saves, by the order of pairs and by the order inside a prompt.

    python -m benchmarks.prefix_cache simulate [--pairs N]
    python -m benchmarks.prefix_cache server [--url URL --model NAME] [--pairs N]

simulate   A cache of 16-token blocks like vLLM's: complete blocks only, a block counts only after all blocks before it, the
           least recently used are dropped first, 400,000 tokens. The prompts are the project's own (the structured
           protocol), the answers have about 300 tokens. Share of prompt tokens saved, by answers per question:
           ours       fixed instructions, question, answer A, answer B; pairs in the order of `audit judge`
           random     the same prompts in random order
           question   the question before the instructions, pairs in our order
           Target for ours: at least 55 % at 5 answers a question, 65 % at 20.
server     The same three orders at a real server, one call after the other, by its own counter (cached_tokens). Without --url
           it is the llama.cpp of the tests with a tiny random model, which compares a prompt with the last few prompts token
           by token; the answers are shorter because it reads only a few tokens at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.protocols import STRUCTURED, Protocol
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.runner import run_calls
from audit.release.journal_files import Reply

BLOCK, ROOM, SEED = 16, 400_000, 2057
SIZES = (3, 5, 12, 20, 40)
TARGETS = {5: 0.55, 20: 0.65}
PIECES = re.compile(r"\w{1,6}|[^\w\s]")
"""About as many pieces as a model's tokenizer makes: 1.3 a word."""

SYLLABLES = [a + b for a in "bdfklmnprstv" for b in "aeiou"]

Order = Callable[[list[Call]], list[Call]]


def corpus(answers: int, pairs: int, words: int, seed: int) -> Corpus:
    """Questions with `answers` answers each, of about `words` words (give or take 30 %), at least `pairs` pairs in all."""
    luck = random.Random(seed)
    questions = max(1, -(-pairs // (answers * (answers - 1) // 2)))
    books = [f"h{number:02d}" for number in range(answers)]
    couples = tuple((a, b) for index, a in enumerate(books) for b in books[index + 1 :])
    items = [
        QuestionToJudge(
            {"question_id": f"q{number:05d}", "question": _text(luck, 45)},
            {book: AnswerToJudge(_text(luck, max(20, round(luck.gauss(words, 0.3 * words))))) for book in books},
            couples,
        )
        for number in range(questions)
    ]
    return Corpus({"run_id": "prefix", "digest": ""}, (), lambda: iter(items))


def _text(luck: random.Random, words: int) -> str:
    return " ".join("".join(luck.choices(SYLLABLES, k=luck.randint(1, 4))) for _ in range(words))


def calls(answers: int, pairs: int, words: int, model: str = "judge", seed: int = SEED) -> list[Call]:
    """The calls of the structured protocol, in the order in which `audit judge` asks them."""
    protocol = Protocol("structured", model, load_prompts())
    return list(protocol.task(corpus(answers, pairs, words, seed)).open_calls(STRUCTURED, lambda _: {}))[:pairs]


def shuffled(ordered: list[Call]) -> list[Call]:
    """Any order."""
    return random.Random(SEED).sample(ordered, len(ordered))


def question_first(ordered: list[Call]) -> list[Call]:
    """The same order; each prompt begins with its question instead of the instructions."""
    return [Call({**call.body, "messages": _turned(call.body["messages"])}, call.group, call.purpose) for call in ordered]


def _turned(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    system, user = (message["content"] for message in messages)
    question, answers = user.split("<answer_a>", 1)
    return [{"role": "user", "content": f"{question}\n{system}\n<answer_a>{answers}"}]


ORDERS: dict[str, Order] = {"ours": lambda ordered: ordered, "random": shuffled, "question": question_first}

# -- by simulation -----------------------------------------------------------------------------------------------------


class BlockCache:
    """A prefix cache: whole blocks of tokens in a chain, the least recently used dropped first."""

    def __init__(self, room: int = ROOM, block: int = BLOCK) -> None:
        self.block, self.most = block, room // block
        self.blocks: OrderedDict[int, None] = OrderedDict()

    def saved(self, tokens: Sequence[str]) -> int:
        """How many of a prompt's tokens are there already; afterwards all its whole blocks are. The last token never is."""
        chain, hit, missed = 0, 0, False
        for start in range(0, len(tokens) - self.block + 1, self.block):
            chain = hash((chain, *tokens[start : start + self.block]))
            missed = missed or chain not in self.blocks
            hit += 0 if missed else self.block
            self.blocks[chain] = None
            self.blocks.move_to_end(chain)
        while len(self.blocks) > self.most:
            self.blocks.popitem(last=False)
        return min(hit, len(tokens) - 1)


def tokens_of(call: Call) -> list[str]:
    """A prompt as a server sees it, cut into pieces."""
    return [
        piece
        for message in call.body["messages"]
        for piece in (message["role"], *(_cut if message["role"] == "system" else PIECES.findall)(message["content"]))
    ]


@lru_cache(1)  # the instructions are the same in every call, and longer than the rest
def _cut(text: str) -> list[str]:
    return PIECES.findall(text)


def simulated(ordered: list[Call]) -> float:
    """Share of the prompt tokens that the cache saves."""
    cache, asked, hit = BlockCache(), 0, 0
    for call in ordered:
        tokens = tokens_of(call)
        asked, hit = asked + len(tokens), hit + cache.saved(tokens)
    return hit / asked


def simulate(pairs: int) -> None:
    """The table of shares by answers a question."""
    print(f"{'answers':>7}" + "".join(f"{name:>10}" for name in ORDERS) + f"   {pairs:,} pairs each, blocks of {BLOCK} tokens")
    for answers in SIZES:
        ordered = calls(answers, pairs, 230)
        shares = {name: simulated(order(ordered)) for name, order in ORDERS.items()}
        target = TARGETS.get(answers)
        print(
            f"{answers:>7}" + "".join(f"{share:>10.1%}" for share in shares.values())
            + (f"   target {target:.0%}: {'reached' if shares['ours'] >= target else 'missed'}" if target else "")
        )  # fmt: skip


# -- at a server -------------------------------------------------------------------------------------------------------


def at_server(endpoint: Endpoint, ordered: list[Call]) -> float:
    """Share of the prompt tokens that the server says it had already."""
    replies: list[Reply] = []
    limits = Limits(concurrency=1, start=1, cut_share=1.0)
    short = [Call({**call.body, "max_tokens": 1}, call.group, call.purpose) for call in ordered]  # only the prompts count
    asyncio.run(run_calls(short, [endpoint], replies.append, readable=lambda *_: True, limits=limits))
    usages: dict[str, Any] = {reply.key: reply.usage for reply in replies if reply.attempt == 1}
    return sum(usage.get("cached_tokens", 0) for usage in usages.values()) / sum(u["prompt_tokens"] for u in usages.values())


def server(url: str | None, model: str, pairs: int, words: int) -> None:
    """The same table from a server's own counter; each cell asks questions of its own, so none profits from another."""
    from tests.support.llm.real_server import MODEL, real_server

    with nullcontext(url) if url else real_server() as address:
        endpoint = Endpoint(str(address), model if url else MODEL)
        print(
            f"{'answers':>7}"
            + "".join(f"{name:>10}" for name in ORDERS)
            + f"   {pairs:,} pairs each, by cached_tokens of the server"
        )
        for answers in (5, 20):
            cells = [
                order(calls(answers, pairs, words, endpoint.model, seed)) for seed, order in enumerate(ORDERS.values(), SEED)
            ]
            print(f"{answers:>7}" + "".join(f"{at_server(endpoint, cell):>10.1%}" for cell in cells))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("simulate", "server"), nargs="?", default="simulate")
    parser.add_argument("--pairs", type=int, help="pairs per cell (default: 5000, at a server 200)")
    parser.add_argument("--url", help="an OpenAI-compatible endpoint, with /v1")
    parser.add_argument("--model", default="judge", help="its model's name")
    parser.add_argument("--words", type=int, help="words an answer (default: 60 without --url, else 230)")
    arguments = parser.parse_args()
    if arguments.part == "simulate":
        simulate(arguments.pairs or 5_000)
    else:
        words = arguments.words or (230 if arguments.url else 60)
        server(arguments.url, arguments.model, arguments.pairs or 200, words)


if __name__ == "__main__":
    main()
