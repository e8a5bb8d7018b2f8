"""What two answers say differently: amounts, denials and words. Pure, standard library only, and fast.

    left, right = contrast("Wait 3 months before you travel.", "Wait one year before you travel.")
    [(span.kind, span.start, span.end) for span in left]     # [(Kind.NUMBER, 5, 13)]

`quantities` and `negations` read one text; `Quantity.agrees` and `Negation.agrees` compare what they found.
"""

from audit.text.citing import Cited, cited, cited_sentences, uncited
from audit.text.contrast import Kind, Span, contrast
from audit.text.names import HIDDEN_NAME, hide_names
from audit.text.negation import Negation, negations
from audit.text.quantities import quantities
from audit.text.quantity import Quantity
from audit.text.units import COUNT
from audit.text.words import Word, stem, words

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
