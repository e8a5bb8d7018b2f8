"""The engine docling: with documents in the form of its model, and with docling itself where it and its models are installed."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from audit.errors import DocumentError, MissingLibraryError
from audit.pipeline.corpus.extraction import docling_blocks as engine
from audit.pipeline.corpus.extraction.engines import engine_named
from audit.pipeline.corpus.extraction.identity import Identity
from audit.pipeline.corpus.extraction.run import extract
from audit.pipeline.corpus.extraction.structure import sections_of
from audit.text.statements import statements
from tests.support.pdfs import FILLER, column, write_pdf

IDENTITY = Identity("heart_alder_pre", "heart", "alder", "pre")


def item(label, text="", page=1, **more):
    return SimpleNamespace(label=label, text=text, prov=[SimpleNamespace(page_no=page, charspan=(0, len(text)))], **more)


def bullet(text, page=1, **more):
    return item("list_item", text, page, **{"enumerated": False, "marker": "-", **more})


def cell(text, columns=(0, 1), head=False):
    return SimpleNamespace(text=text, column_header=head, start_col_offset_idx=columns[0], end_col_offset_idx=columns[1])


def table(*rows, heads=1):
    grid = [[cell(text, (c, c + 1), number < heads) for c, text in enumerate(row)] for number, row in enumerate(rows)]
    return item("table", data=SimpleNamespace(grid=grid))


def document(*items, pages=1):
    placed = [entry if isinstance(entry, tuple) else (entry, 1) for entry in items]
    return SimpleNamespace(pages=dict.fromkeys(range(1, pages + 1)), iterate_items=lambda: iter(placed))


def texts(*items, pages=1):
    return [block.text for block in engine.blocks_of(document(*items, pages=pages)).blocks]


def test_headings_have_their_levels_and_the_title_is_above_them():
    extracted = engine.blocks_of(
        document(item("title", "Your new heart"), item("section_header", "Food", level=1), item("text", "Eat."))
    )
    assert [(block.kind, block.text, block.level) for block in extracted.blocks] == [
        ("heading", "Your new heart", 1),
        ("heading", "Food", 2),
        ("text", "Eat.", 0),
    ]
    assert extracted.title == "Your new heart"


def test_a_text_that_ends_with_a_colon_leads_the_list_below_it():
    (list_block,) = texts(item("text", "Never smoke:"), bullet("cigarettes"), bullet("cigars"))
    assert [statement.quoted for statement in statements(list_block)] == ["Never smoke: cigarettes", "Never smoke: cigars"]


def test_a_finished_sentence_leads_no_list_and_a_lead_without_a_list_stays_a_text():
    assert texts(item("text", "Rest well."), bullet("walk")) == ["Rest well.", "• walk"]
    assert texts(item("text", "Call us:")) == ["Call us:"]


def test_nested_and_numbered_items_keep_their_depth_and_number():
    nested = (bullet("Milk:"), 2), (bullet("raw"), 4), (bullet("Cook it.", enumerated=True, marker="2."), 2)
    assert texts(*nested) == ["• Milk:\n  • raw\n2. Cook it."]


def test_each_cell_of_a_row_has_its_columns_head():
    rows = texts(table(["Medicine", "Allowed", "Most"], ["Ibuprofen", "no", ""], ["Paracetamol", "yes", "4 g"]))
    assert rows == ["Medicine | Allowed | Most", "Ibuprofen | Allowed: no", "Paracetamol | Allowed: yes | Most: 4 g"]


def test_a_head_over_two_columns_is_said_with_the_head_below_it():
    wide = cell("Dose", (1, 3), head=True)
    under = [cell("", (0, 1), True), cell("morning", (1, 2), True), cell("evening", (2, 3), True)]
    body = [cell("Tacrolimus", (0, 1)), cell("1 mg", (1, 2)), cell("2 mg", (2, 3))]
    grid = [[cell("", (0, 1), True), wide, wide], under, body]
    rows = texts(item("table", data=SimpleNamespace(grid=grid)))
    assert rows[-1] == "Tacrolimus | Dose morning: 1 mg | Dose evening: 2 mg"


def test_of_a_table_that_is_all_heads_no_row_is_lost():
    assert texts(table(["Weight", "60 kg"], ["Pulse", "70"], heads=2)) == ["Weight | 60 kg", "Pulse | 60 kg: 70"]


def test_a_cell_over_all_columns_is_one_text():
    label = cell("Every day", (0, 2))
    grid = [[label, label], [cell("Weight"), cell("60 kg", (1, 2))]]
    assert texts(item("table", data=SimpleNamespace(grid=grid))) == ["Every day", "Weight | 60 kg"]


def test_contents_and_pictures_are_left_out_and_pages_without_text_are_named():
    extracted = engine.blocks_of(document(item("document_index", "Food 3"), item("picture"), item("text", "Eat.", 2), pages=3))
    assert [block.text for block in extracted.blocks] == ["Eat."]
    assert (extracted.page_count, extracted.pages_without_text) == (3, (1, 3))


def test_a_list_tells_where_its_next_page_begins():
    (block,) = engine.blocks_of(document(item("text", "Avoid:"), bullet("raw eggs"), bullet("raw fish", 2), pages=2)).blocks
    assert (block.page, block.last_page) == (1, 2)
    ((page, start),) = block.later_pages
    assert (page, block.text[start:]) == (2, "• raw fish")


# -- the library -------------------------------------------------------------------------------------------------------


class Converter:
    """Stands in for docling's converter: `outcome` is what its next conversion returns or raises."""

    outcome: object

    def __init__(self, allowed_formats, format_options):
        assert list(format_options) == allowed_formats == ["pdf"]
        assert format_options["pdf"].pipeline_options.do_ocr is False

    def convert(self, source, raises_on_error):
        assert not raises_on_error
        if isinstance(Converter.outcome, Exception):
            raise Converter.outcome
        return Converter.outcome


@pytest.fixture
def docling(monkeypatch):
    """The modules of docling that the engine uses, without its models."""
    parts = {
        "docling": {},
        "docling.datamodel": {},
        "docling.document_converter": {"DocumentConverter": Converter, "PdfFormatOption": SimpleNamespace},
        "docling.datamodel.base_models": {"InputFormat": SimpleNamespace(PDF="pdf")},
        "docling.datamodel.pipeline_options": {"PdfPipelineOptions": SimpleNamespace},
    }
    for name, attributes in parts.items():
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    engine._converter.cache_clear()
    yield
    engine._converter.cache_clear()


@pytest.fixture
def pdf(tmp_path):
    return write_pdf(tmp_path / "book.pdf", [column(["# At home", FILLER])])


def outcome(status, read=None, errors=()):
    messages = [SimpleNamespace(error_message=message) for message in errors]
    return SimpleNamespace(status=SimpleNamespace(value=status), document=read, errors=messages)


@pytest.mark.usefixtures("docling")
def test_the_engine_writes_the_sections_of_a_document(pdf):
    Converter.outcome = outcome("success", document(item("section_header", "At home", level=1), item("text", FILLER)))
    (section,) = extract(pdf, IDENTITY, "docling").sections
    assert (section.heading, section.text) == ("At home", FILLER)


@pytest.mark.usefixtures("docling")
@pytest.mark.parametrize("status", ["partial_success", "failure"])
def test_a_document_that_is_read_in_part_is_not_taken(status, pdf):
    Converter.outcome = outcome(status, errors=["Page 3 failed\nTraceback"])
    with pytest.raises(DocumentError, match=rf"docling ended with the status '{status}' \(Page 3 failed\)"):
        engine_named("docling").blocks(pdf, lambda *_: None)


@pytest.mark.usefixtures("docling")
def test_missing_models_are_said_with_the_setting_that_names_their_folder(pdf):
    Converter.outcome = FileNotFoundError("no model.safetensors here")
    with pytest.raises(DocumentError, match=r"no model\.safetensors here.*DOCLING_ARTIFACTS_PATH"):
        engine_named("docling").blocks(pdf, lambda *_: None)


def test_where_docling_is_not_installed_one_sentence_says_so(pdf, monkeypatch):
    monkeypatch.setitem(sys.modules, "docling.document_converter", None)
    engine._converter.cache_clear()
    with pytest.raises(MissingLibraryError, match="The engine docling needs docling, which is not installed"):
        engine_named("docling").blocks(pdf, lambda *_: None)


def test_doclings_own_document_model_is_read():
    core = pytest.importorskip("docling_core.types.doc", reason="docling-core is not installed")
    real = core.DoclingDocument(name="leaflet")
    real.add_page(page_no=1, size=core.Size(width=595, height=842))
    box = core.BoundingBox(l=0, t=0, r=1, b=1)

    def at(text):
        return core.ProvenanceItem(page_no=1, bbox=box, charspan=(0, len(text)))

    real.add_title("Your new heart", prov=at("Your new heart"))
    real.add_heading("Smoking", level=1, prov=at("Smoking"))
    real.add_text(core.DocItemLabel.TEXT, "Never smoke:", prov=at("Never smoke:"))
    group = real.add_list_group()
    real.add_list_item("cigarettes", parent=group, prov=at("cigarettes"))
    cells = [
        core.TableCell(
            text=text,
            start_row_offset_idx=row,
            end_row_offset_idx=row + 1,
            start_col_offset_idx=place,
            end_col_offset_idx=place + 1,
            column_header=row == 0,
        )
        for row, line in enumerate([["Vaccine", "Allowed"], ["MMR", "no"]])
        for place, text in enumerate(line)
    ]
    real.add_table(core.TableData(table_cells=cells, num_rows=2, num_cols=2), prov=at(""))
    first, section = sections_of(engine.blocks_of(real).blocks)
    assert (first.heading, section.heading, section.above) == ("Your new heart", "Smoking", ("Your new heart",))
    assert section.text == "Never smoke:\n• cigarettes\n\nVaccine | Allowed\nMMR | Allowed: no"


@pytest.mark.skipif(
    not os.environ.get("DOCLING_ARTIFACTS_PATH"), reason="docling's models are not at hand: DOCLING_ARTIFACTS_PATH"
)
def test_docling_itself_reads_a_page(pdf):
    pytest.importorskip("docling", reason="docling is not installed")
    document = extract(pdf, IDENTITY, "docling")
    assert FILLER.split()[0] in " ".join(section.text for section in document.sections)
