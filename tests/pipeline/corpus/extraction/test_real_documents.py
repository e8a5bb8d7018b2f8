"""What `audit extract` keeps of two real PDFs of the US government, and how that is counted."""

import json
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from benchmarks.extract_real import PUBLIC_DOMAIN, available, counts_of, pages_of, pooled
from benchmarks.readers import DOCLING_URL, Heading, docling, missing, sections_of_markdown
from benchmarks.real_leads import lost_leads, warning_fates, wrong_cells
from benchmarks.real_measures import (
    RealDocument,
    order_pairs,
    page_words,
    real_documents,
    score_headings,
    torn_rows,
    web_words,
    words,
)


def document(**parts) -> RealDocument:
    texts = dict.fromkeys(("title", "repository", "path", "sha256", "licence", "language", "layout"), "")
    return RealDocument(**{"file": "leaflet.pdf", **texts, "pages": (1, 1), "headings": {}, **parts})


# -- how it is counted -------------------------------------------------------------------------------------------------


def test_a_heading_counts_without_its_spaces_and_marks_and_with_a_letter_lost():
    leaflet = document(headings={"1": ["What To Do, Day by Day", "Warning Signs"], "2": ["Fever"]})
    score = score_headings(leaflet, [("WHAT TO DO DAYBY DAY:", ""), ("Warnin Signs", ""), ("Call 911", "")])
    assert (score.expected, score.extracted, score.missed, score.false) == (3, 3, (("2", "Fever"),), ("Call 911",))


def test_a_repeated_heading_is_found_once_and_an_optional_line_is_never_false():
    leaflet = document(headings={"1": ["Fever"]}, optional=["Table 1"])
    assert score_headings(leaflet, [("Fever", ""), ("Fever", ""), ("Table 1", "")]).false == ("Fever",)


def test_paragraphs_are_in_order_when_each_begins_after_the_one_before():
    leaflet = document(order={"1": ["Wash your hands", "Cook the meat", "Store it cold"]})
    pairs = order_pairs(leaflet, [("", "Wash your hands well."), ("", "Store it cold. Cook the meat through.")])
    assert [right for *_, right in pairs] == [True, False]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Banana | Portion: 1 medium | Potassium: 467", True),
        ("|Banana|1 medium|467|", True),
        ("Banana | Portion: 1 medium\n467", False),
        ("Banana | 467 | 1 medium", False),
        ("Banana Green apple | 1 medium 1 small | 467 159", False),
    ],
)
def test_a_row_is_whole_on_one_line_that_has_no_other_rows_label(text, whole):
    leaflet = document(rows=[["Banana", "1 medium", "467"], ["Green apple", "1 small", "159"]])
    assert (["Banana", "1 medium", "467"] not in torn_rows(leaflet, [("", text)])) is whole


@pytest.mark.parametrize(
    ("sections", "kept"),
    [
        ([("Diarrhea", "DON'T:\n• Drink alcohol.")], True),
        ([("Diarrhea", "**DON'T:**\n\n- Drink alcohol.")], True),
        ([("Diarrhea", "|DO|DON'T|\n|---|---|\n|Rest.|Drink alcohol.|")], True),
        ([("DON'T", "Drink alcohol.")], True),
        ([("Diarrhea", "DON'T:\n\nDrink alcohol.")], False),
        ([("Diarrhea", "DO: DON'T:\n\n• Drink alcohol.")], False),
        ([("Diarrhea", "DO:\n• Drink alcohol.")], False),
    ],
)
def test_an_item_keeps_its_lead_when_no_other_is_nearer(sections, kept):
    leaflet = document(leads=[["DON'T", "Drink alcohol"], ["DO", "Rest"]])
    assert (["DON'T", "Drink alcohol"] not in lost_leads(leaflet, sections)) is kept


def test_a_lead_may_be_said_by_a_heading_above_and_the_lowest_heading_counts():
    leaflet = document(warnings=[(1, "Foods to avoid", "Bananas"), (1, "Foods to eat", "Apples")])
    avoided = [(Heading("Fruits", ("Foods to avoid",)), "• Bananas"), (Heading("Foods to eat", ("Foods to avoid",)), "• Apples")]
    assert [fate for *_, fate in warning_fates(leaflet, avoided)] == ["kept", "kept"]
    assert sections_of_markdown("# Foods to avoid\n## Fruits\n- Bananas\n# Drinks")[3][0].above == ()
    (fruits,) = (heading for heading, _ in sections_of_markdown("# Foods to avoid\n## Fruits\n- Bananas") if heading == "Fruits")
    assert fruits.above == ("Foods to avoid",)


@pytest.mark.parametrize(
    ("sections", "fate"),
    [
        ([("Food", "Avoid:\n• Bananas")], "kept"),
        ([("Food", "Choose:\n• Bananas")], "lost: under choose"),
        ([("Food", "Now and then:\n• Bananas")], "lost: under now and then"),
        ([("Food", "Choose: Avoid:\n• Bananas")], "lost: under choose avoid"),
        ([("Food", "Bananas")], "lost: under food"),
        ([("Bananas", "")], "lost: made a heading"),
        ([("Food", "Avoid:")], "missing"),
    ],
)
def test_each_warning_is_followed_to_where_it_went(sections, fate):
    leaflet = document(warnings=[(3, "Avoid", "Bananas")], leads=[["Choose", "Apples"]])
    assert warning_fates(leaflet, sections) == [(3, "Avoid", "Bananas", fate)]


def test_an_item_that_is_itself_a_lead_is_found_where_its_items_are():
    leaflet = document(warnings=[(3, "Call at once for", "Fever")])
    sections = [("Advice", "Call at once for:\n• Fever\n  • at night\n  • with a rash")]
    assert warning_fates(leaflet, sections) == [(3, "Call at once for", "Fever", "kept")]
    assert warning_fates(leaflet, [("Advice", "Wait for:\n• Fever\n  • at night")])[0][3] == "lost: under wait for"


@pytest.mark.parametrize(
    ("sections", "right"),
    [
        ([("", "Food: Fruit | Choose: Apples | Avoid: Bananas")], True),
        ([("", "|Food|Choose|Avoid|\n|---|---|---|\n|Fruit|Apples|Bananas|")], True),
        ([("Fruit", "Avoid:\n• Bananas")], True),
        ([("Fruit", "Choose: Apples | Avoid: Bananas")], True),
        ([("", "Food: Fruit | Avoid: Apples Bananas")], False),
        ([("", "Food: Fruit | Choose: Bananas")], False),
        ([("", "Food: Grain | Choose: Rice | Avoid: Bananas")], False),
        ([("", "Fruit\n\nApples\n\nBananas")], False),
    ],
)
def test_a_cell_is_right_with_its_row_and_column_and_no_other_cell(sections, right):
    leaflet = document(cells=[(1, "Fruit", "Avoid", "Bananas"), (1, "Fruit", "Choose", "Apples"), (1, "Grain", "Choose", "Rice")])
    assert (["Fruit", "Avoid", "Bananas"] not in wrong_cells(leaflet, sections)) is right


def test_the_words_of_a_web_page_are_those_shown_between_its_menus(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<nav>Home</nav><script>if (1) {}</script><p>No <b>ba</b>nanas.</p><p>Eat apples.</p><footer>Home</footer>")
    assert dict(web_words(page, "No bananas", "apples").body) == {"no": 1, "bananas": 1, "eat": 1, "apples": 1}
    with pytest.raises(ValueError, match="no 'Eat apples' or no 'No bananas' after it"):
        web_words(page, "Eat apples", "No bananas")


def test_counts_are_pooled_and_a_failed_reader_is_counted_as_not_read():
    measured = {"a": {"x": {"recall": (1, 2)}}, "b": {"x": {"recall": (3, 4)}}, "c": {"x": None}}
    assert pooled(measured, dict.fromkeys("abc", "known PDFs")) == {"known PDFs": {"x": {"documents": (2, 3), "recall": (4, 6)}}}


def test_docling_is_asked_over_http_and_what_it_refuses_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv(DOCLING_URL, raising=False)
    assert missing("docling").startswith("no server")
    page = tmp_path / "page.html"
    page.write_text("<p>Avoid bananas</p>")
    answers = iter([{"document": {"md_content": "# Food\nAvoid bananas"}}, {"status": "failure", "errors": ["no model"]}])
    asked = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(next(answers)).encode())

        def log_message(self, *_):
            """Nothing is printed."""

    with HTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv(DOCLING_URL, f"http://127.0.0.1:{server.server_port}/")
        read = docling()
        assert read(page) == [("", ""), ("Food", "\nAvoid bananas")]
        with pytest.raises(ValueError, match=r"failure.*no model"):
            read(page)
        server.shutdown()
    assert asked[0][0] == "/v1/convert/file"
    assert b"<p>Avoid bananas</p>" in asked[0][1]
    assert b'name="to_formats"\r\n\r\nmd' in asked[0][1]


def test_words_are_read_without_ligatures_case_and_tags():
    assert words("Conﬁrm <b>Prograf</b>® at 38.5") == ("confirm", "prograf", "at", "38", "5")


# -- two documents that are here ---------------------------------------------------------------------------------------


def test_the_gold_is_that_of_at_least_forty_pdfs_and_ten_web_pages_half_of_them_sealed():
    groups = Counter(each.group for each in real_documents())
    assert min(groups["known PDFs"], groups["opened PDFs"] + groups["sealed PDFs"]) >= 20
    assert groups["known web pages"] + groups["opened web pages"] + groups["sealed web pages"] >= 10
    assert sum(len(each.warnings) for each in real_documents() if (each.sealed or each.fresh) and not each.opened) >= 60
    assert len({each.name for each in real_documents()}) == groups.total()


@pytest.fixture(scope="module")
def shipped() -> dict[str, RealDocument]:
    return {each.file: each for each in real_documents() if (PUBLIC_DOMAIN / each.file).exists()}


def test_documents_that_are_not_there_are_named_with_their_origin(tmp_path, capsys, shipped):
    assert [each.file for each, _ in available([tmp_path], [])] == list(shipped)
    told = capsys.readouterr().out
    assert "heart-transplant-manual.pdf is missing" in told
    assert "adiaz0511/transplant-education-rag" in told


def test_a_document_is_cut_to_its_pages_with_gold(tmp_path, shipped):
    source = PUBLIC_DOMAIN / "cdc-mmwr-7047a3.pdf"
    part = pages_of(document(file="part.pdf", pages=(2, 3)), source, tmp_path)
    assert part == tmp_path / "part.pdf"
    body = page_words(part, []).body
    assert body["hispanic"] > 0
    assert body["acknowledgments"] == 0


@pytest.mark.parametrize("file", ["cdc-ckd-2021.pdf", "cdc-mmwr-7047a3.pdf"])
def test_real_documents_of_two_columns_keep_their_words_and_order(file, shipped):
    pytest.importorskip("pypdfium2")
    pytest.importorskip("pdfplumber")
    from benchmarks.readers import pdfium

    pdf = PUBLIC_DOMAIN / file
    counts = counts_of(shipped[file], pdfium()(pdf), pdf)
    assert counts["order"][0] == counts["order"][1]
    assert counts["lost"][0] <= 0.06 * counts["lost"][1]
