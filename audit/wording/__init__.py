"""What two answers say differently: amounts, denials and words. Pure, standard library only, and fast.

    left, right = contrast("Wait 3 months before you travel.", "Wait one year before you travel.")
    [(span.kind, span.start, span.end) for span in left]     # [(Kind.NUMBER, 5, 13)]

`quantities` and `negations` read one text; `Quantity.agrees` and `Negation.agrees` compare what they found.
"""

from audit.wording.citing import Cited, cited, cited_sentences, uncited
from audit.wording.contrast import Kind, Span, contrast
from audit.wording.names import HIDDEN_NAME, hide_names
from audit.wording.negation import Negation, negations
from audit.wording.quantities import quantities
from audit.wording.quantity import Quantity
from audit.wording.units import COUNT
from audit.wording.words import Word, stem, words

__all__ = [
    "COUNT",
    "HIDDEN_NAME",
    "Cited",
    "Kind",
    "Negation",
    "Quantity",
    "Span",
    "Word",
    "cited",
    "cited_sentences",
    "contrast",
    "hide_names",
    "negations",
    "quantities",
    "stem",
    "uncited",
    "words",
]
