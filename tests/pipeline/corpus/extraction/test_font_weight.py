"""The weight of fonts that do not tell it, or tell it wrongly, by the ink of their letters."""

from __future__ import annotations

import pypdfium2
import pypdfium2.raw
import pytest

from audit.pipeline.corpus.extraction.font_weight import is_bold
from tests.support.pdfs import at, write_pdf


@pytest.mark.parametrize("weight", [0, 645])
@pytest.mark.parametrize("bold", [True, False])
def test_bold_letters_are_darker_than_regular_ones_whatever_weight_the_file_gives_them(tmp_path, bold, weight):
    document = pypdfium2.PdfDocument(write_pdf(tmp_path / "book.pdf", [[at("Advice on care", 60, 100, 10, bold)]]))
    text = document[0].get_textpage()
    font = pypdfium2.raw.FPDFTextObj_GetFont(pypdfium2.raw.FPDFText_GetTextObject(text.raw, 0))
    assert is_bold(font, weight) is bold
    assert not is_bold(font, 400)
