"""How close an answer comes to the reference answer: BLEU, ROUGE and BERTScore, by the field's own libraries.

A scorer takes answers and their reference answers and returns one value per answer, in [0, 1] (BERTScore: at most 1). The
libraries are imported when a scorer is made. They never receive an empty text: the caller leaves out unreadable answers and
refusals, so neither becomes a 0.

Tokens. `bleu_1` and `bleu_4` are NLTK's sentence BLEU of the lower-cased text, cut into sentences by Punkt and into words by
NLTK's word tokenizer, smoothed by method 1 (Chen and Cherry 2014). Punkt runs without its trained abbreviations, which are a
download; the effect is small. On the 828 closed-book answers of Mixtral 8x7B that Fensore, Carrillo-Larco, Shah and Ho published,
it gives BLEU-1 .2091 and BLEU-4 .0314, their own figures; splitting after every full stop gives .2115 and .0315, not splitting at
all .1965 and .0283. `sacrebleu` is sentence BLEU-4 with sacrebleu's own tokens (13a) and case, .0306 on the same answers.
`rouge_1` and `rouge_l` are F values of stemmed words.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from audit.errors import AuditError
from audit.optional_imports import optional
from audit.stats.intervals import Floats

BLEU, SACREBLEU, ROUGE, BERTSCORE = "bleu", "sacrebleu", "rouge", "bertscore"
BLEU_ORDERS = {"bleu_1": 1, "bleu_4": 4}
ROUGE_KINDS = {"rouge_1": "rouge1", "rouge_l": "rougeL"}
REFERENCE_MEASURES = (*BLEU_ORDERS, SACREBLEU, *ROUGE_KINDS, BERTSCORE)
"""Every measure of a scorer, in the order in which tables show them."""
DEFAULT_MODEL = "roberta-large"
"""The model of the source, and of the library, for English."""
# Texts of 512 tokens in the memory of a laptop
BERTSCORE_BATCH = 16
# Fast tokenizers of folders without a limit report 10^30 tokens, which overflows
MOST_TOKENS = 100_000


@dataclass(frozen=True)
class ReferenceScorer:
    """Scores answers against reference answers.

    measures  the names of its values
    recipe    what else decides the values: libraries with versions, settings, model
    score     (answers, reference answers), no text empty -> float (answers, measures)
    """

    measures: tuple[str, ...]
    recipe: str
    score: Callable[[Sequence[str], Sequence[str]], Floats]


def bleu_scorer() -> ReferenceScorer:
    """BLEU-1 and BLEU-4 by NLTK, equal weights up to the order. Raises MissingLibraryError without NLTK."""
    tokens = _nltk_tokens()
    bleu = optional("nltk.translate.bleu_score", "BLEU", "pipeline")
    smoothing = bleu.SmoothingFunction().method1

    def score(answers: Sequence[str], references: Sequence[str]) -> Floats:
        values = []
        for answer, reference in zip(answers, references, strict=True):
            candidate, wanted = tokens(answer), [tokens(reference)]
            weights = [(1 / order,) * order for order in BLEU_ORDERS.values()]
            values.append([bleu.sentence_bleu(wanted, candidate, weight, smoothing) for weight in weights])
        return _table(values, len(BLEU_ORDERS))

    return ReferenceScorer(tuple(BLEU_ORDERS), f"nltk {version('nltk')}, lower case, Punkt without training, method1", score)


def _nltk_tokens() -> Callable[[str], list[str]]:
    sentences = optional("nltk.tokenize.punkt", "BLEU", "pipeline").PunktSentenceTokenizer()
    words = optional("nltk.tokenize.destructive", "BLEU", "pipeline").NLTKWordTokenizer()
    return lambda text: [word for sentence in sentences.tokenize(text.lower()) for word in words.tokenize(sentence)]


def sacrebleu_scorer() -> ReferenceScorer:
    """Sentence BLEU-4 by sacrebleu, from 0 to 1. Raises MissingLibraryError without sacrebleu."""
    # effective_order: an answer of fewer than four words has no 4-grams, which is not a lack of agreement
    bleu = optional("sacrebleu.metrics", "sacreBLEU", "pipeline").BLEU(effective_order=True)

    def score(answers: Sequence[str], references: Sequence[str]) -> Floats:
        pairs = zip(answers, references, strict=True)
        return _table([[bleu.sentence_score(answer, [reference]).score / 100] for answer, reference in pairs], 1)

    return ReferenceScorer((SACREBLEU,), f"sacrebleu {version('sacrebleu')}, 13a, effective order", score)


def rouge_scorer() -> ReferenceScorer:
    """ROUGE-1 and ROUGE-L, F values of stemmed words, by rouge-score. Raises MissingLibraryError without rouge-score."""
    library = optional("rouge_score.rouge_scorer", "ROUGE", "pipeline")
    rouge = library.RougeScorer(list(ROUGE_KINDS.values()), use_stemmer=True)

    def score(answers: Sequence[str], references: Sequence[str]) -> Floats:
        scored = (rouge.score(reference, answer) for answer, reference in zip(answers, references, strict=True))
        return _table([[result[kind].fmeasure for kind in ROUGE_KINDS.values()] for result in scored], len(ROUGE_KINDS))

    return ReferenceScorer(tuple(ROUGE_KINDS), f"rouge-score {version('rouge-score')}, stemmer", score)


def bertscore_scorer(model: str = DEFAULT_MODEL) -> ReferenceScorer:
    """BERTScore F by bert-score, without idf weights or rescaling.

    model  a name on Hugging Face, or the folder of a model. A name that bert-score knows (a folder of that name too) is read at
           the layer that agrees best with people, any other model at its last layer.

    Texts are cut at the model's limit, 512 tokens for roberta-large. A graphics card is used where there is one.
    Raises MissingLibraryError without bert-score, and AuditError for a model that can be neither found nor downloaded.
    """
    library = optional("bert_score", "BERTScore", "models")
    layer = _layer(model)
    with _quiet():
        try:
            scorer = library.BERTScorer(model_type=model, num_layers=layer, batch_size=BERTSCORE_BATCH, idf=False)
        except (OSError, ValueError) as error:
            raise _no_model(model, error) from error
        scorer._tokenizer.model_max_length = _token_limit(scorer)

    def score(answers: Sequence[str], references: Sequence[str]) -> Floats:
        with _quiet():
            *_, f_values = scorer.score(list(answers), list(references))
        return np.asarray(f_values.double().cpu().numpy())[:, None]

    recipe = f"bert-score {version('bert-score')}, transformers {version('transformers')}, {model}, layer {layer}, no idf"
    return ReferenceScorer((BERTSCORE,), recipe, score)


def _layer(model: str) -> int:
    known: dict[str, int] = optional("bert_score.utils", "BERTScore", "models").model2layers
    best = known.get(model, known.get(Path(model).name))
    if best is not None:
        return best
    try:
        return int(optional("transformers", "BERTScore", "models").AutoConfig.from_pretrained(model).num_hidden_layers)
    except (OSError, ValueError) as error:
        raise _no_model(model, error) from error


def _token_limit(scorer: Any) -> int:
    limit = int(scorer._tokenizer.model_max_length)
    # RoBERTa counts positions from 2
    return limit if limit <= MOST_TOKENS else int(scorer._model.config.max_position_embeddings) - 2


def _no_model(model: str, error: Exception) -> AuditError:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
    return AuditError(
        f"Model '{model}' is not the folder of a language model and could not be downloaded from Hugging Face ({reason}). "
        f"BERTScore was not computed, and nothing was written. Name a folder, or a model such as {DEFAULT_MODEL}."
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the progress bars of model libraries from the terminal."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def _table(values: list[list[float]], width: int) -> Floats:
    return np.array(values, dtype=float).reshape(-1, width)


SCORERS: dict[str, Callable[[], ReferenceScorer]] = {BLEU: bleu_scorer, SACREBLEU: sacrebleu_scorer, ROUGE: rouge_scorer}
"""The scorers that need no model, by the name that the command line gives them."""
