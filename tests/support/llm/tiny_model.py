"""A language model of 0.7 MB with random weights, made in a second: no download, and a real server can run it.

    python -m tests.support.llm.tiny_model FILE.gguf

It knows nothing. What it says is made of the words below, is not the same for two prompts, and comes to an end: one channel
of every token's embedding is a constant that no layer writes to, so that the output layer's weights on that channel are a
fixed bonus or malus of each token. Closing quotes and braces get a bonus. Without it no JSON string would ever be closed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ENGLISH = Path(__file__).resolve().parents[3] / "LICENSE"
"""Some English that never changes."""
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
CONTROL = SPECIAL[:3]
END_OF_TURN = "<|im_end|>"
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""How the server splits a text before merging (its pre-tokenizer `qwen2`); the merges here are learned on the same pieces."""
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined %}<think>\n{{ '' if enable_thinking else '\n</think>\n\n' }}{% endif %}{% endif %}"
)
VOCABULARY = (
    "the both one answer says that a patient may not travel before after months weeks days kidney liver heart lung pancreas "
    "transplant center team call fever degrees dose vaccine food lift weight pounds test blood daily weekly same different "
    "other agree differ advice opposite silent addressed yes no low medium high reasoning classification divergence topic "
    "clinical significance absent consistent complementary divergent contradictory question handbook is are of in and to for"
)
WORDS = VOCABULARY.split()
SEED = 12
"""With it all five labels come up about as often as one could wish."""
SPACE = "\u0120"
"""How byte-level BPE writes the space before a word."""


SHARP, LOUD, CLOSE = 3.0, 0.7, 45.0
"""How much a head prefers one token over others, how much it adds, what a closing quote gets on top: found by trying, such that
two prompts get two texts, all labels come up, and a string ends after a hundred characters or so."""


@dataclass(frozen=True)
class Shape:
    """The size of the network."""

    width: int = 64
    layers: int = 2
    heads: int = 4
    shared: int = 2
    head: int = 16
    inner: int = 128
    context: int = 8_192
    vocabulary: int = 2_048


def texts(random: np.random.Generator) -> Iterator[str]:
    """What the tokenizer learns its merges from."""
    yield from ENGLISH.read_text().splitlines()
    for number in range(2_000):
        words = random.choice(WORDS, int(random.integers(5, 20))).tolist()
        yield " ".join(words).capitalize() + "."
        if number % 3 == 0:
            yield json.dumps({word: " ".join(words) for word in random.choice(WORDS, 3).tolist()})


def tokenizer(random: np.random.Generator, size: int) -> tuple[list[str], list[str]]:
    """(tokens, merges) of a byte-level BPE."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    learned = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    learned.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIAL), initial_alphabet=letters, show_progress=False)
    learned.train_from_iterator(texts(random), trainer)
    model = json.loads(learned.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].__getitem__), [" ".join(pair) for pair in model["merges"]]


def bonus(token: str) -> float:
    """What a token's chance gets on top, in logits."""
    if token == END_OF_TURN:
        return 0.5
    if token in SPECIAL:
        return -6.0
    if token in ('"', '",', '"}', "}"):
        return CLOSE
    if token.startswith(SPACE):
        return 0.5
    # Half a UTF-8 character makes llama.cpp's reader of its own output answer 500, so bytes on their own never come.
    return 0.0 if token.isascii() else -40.0


def weights(random: np.random.Generator, shape: Shape, tokens: list[str]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Every tensor by its name in the file."""

    def drawn(rows: int, columns: int, scale: float) -> np.ndarray[Any, Any]:
        return (random.standard_normal((rows, columns)) * scale).astype(np.float32)

    def silent(tensor: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tensor[0] = 0  # nothing writes to the constant channel
        return tensor

    ones, across = np.ones(shape.width, np.float32), shape.heads * shape.head
    embedding, output = drawn(len(tokens), shape.width, 1.0), drawn(len(tokens), shape.width, 0.35)
    embedding[:, 0] = 4.0
    output[:, 0] = [bonus(token) / 2 for token in tokens]
    yield from (("token_embd", embedding), ("output", output), ("output_norm", ones))
    for layer in (f"blk.{number}." for number in range(shape.layers)):
        yield from ((layer + name, ones) for name in ("attn_norm", "ffn_norm"))
        yield from ((layer + name, np.full(shape.head, SHARP, np.float32)) for name in ("attn_q_norm", "attn_k_norm"))
        yield layer + "attn_q", drawn(across, shape.width, 0.3)
        yield from ((layer + name, drawn(shape.shared * shape.head, shape.width, 0.3)) for name in ("attn_k", "attn_v"))
        yield layer + "attn_output", silent(drawn(shape.width, across, LOUD))
        yield from ((layer + name, drawn(shape.inner, shape.width, 0.3)) for name in ("ffn_gate", "ffn_up"))
        yield layer + "ffn_down", silent(drawn(shape.width, shape.inner, 0.25))


def write_model(path: Path, seed: int = SEED, shape: Shape | None = None) -> Path:
    """Write the model as a GGUF file; the same seed gives the same file."""
    import gguf

    shape, random = shape or Shape(), np.random.default_rng(seed)
    tokens, merges = tokenizer(random, shape.vocabulary)
    writer = gguf.GGUFWriter(str(path), "qwen3")
    _describe(writer, shape)
    kinds = gguf.TokenType
    types = [kinds.CONTROL if t in CONTROL else kinds.USER_DEFINED if t in SPECIAL else kinds.NORMAL for t in tokens]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(tokens.index(SPECIAL[0]))
    writer.add_eos_token_id(tokens.index(END_OF_TURN))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in weights(random, shape, tokens):
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _describe(writer: Any, shape: Shape) -> None:
    import gguf

    writer.add_name("tiny-random")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.shared)
    writer.add_key_length(shape.head)
    writer.add_value_length(shape.head)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))
