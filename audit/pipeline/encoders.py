"""The encoder that a config names, for texts that are known when it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from audit.embedding.encoders import LEXICAL, Encoder, cached_encoder, sentence_encoder, words_encoder
from audit.settings import Settings

NONE = "none"
EncoderOf = Callable[[Sequence[str]], Encoder]


def encoder_of(name: str, settings: Settings) -> EncoderOf | None:
    """What makes the encoder of that name: a model's vectors are kept, `words` needs to see the texts, `none` is none."""
    if name == NONE:
        return None
    return words_encoder if name == LEXICAL else lambda _: cached_encoder(sentence_encoder(name), settings.data_dir / "vectors")
