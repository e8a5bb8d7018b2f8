import pandas as pd
import pytest

from audit.charts.captions import CAPTION_ROOM, LINES, with_caption, with_notice
from audit.charts.criteria import preference_bars
from audit.charts.labels import two_step_bar
from audit.vocabulary import LABELS

SOURCE = "Run of 24 handbooks, 118 questions. Source: Demo (demo@1)."


def bar():
    return two_step_bar(3, dict.fromkeys(map(str, LABELS), 1), 0)


def test_a_saved_figure_has_its_title_n_and_source_and_room_for_them():
    plain, captioned = bar(), with_caption(bar(), "Share of <b>pairs</b>", SOURCE)
    lines = captioned.layout.title.text.split("<br>")
    assert lines == ["<b>Share of &lt;b&gt;pairs&lt;/b&gt;</b>", SOURCE, "&nbsp;", "&nbsp;"]
    assert (captioned.layout.height, captioned.layout.margin.t) == (
        plain.layout.height + CAPTION_ROOM, plain.layout.margin.t + CAPTION_ROOM,
    )  # fmt: skip
    assert captioned.data == plain.data


def test_a_notice_stays_below_a_caption_of_any_length():
    for title in ("short", "word " * 400):
        captioned = with_caption(with_notice(bar(), "A preview: by rules"), title, SOURCE)
        assert captioned.layout.title.text.split("<br>")[2 * LINES :] == ["A preview:", "by rules"]


def test_a_phone_shows_a_long_notice_in_more_lines_for_which_the_figure_has_room():
    notice, plain = "Answers are quoted; labels come from a stand-in judge that reads truth.csv: a preview", bar()
    wide, narrow = with_notice(plain, notice), with_notice(plain, notice, 46)
    assert wide.layout.title.text.count("<br>") == 1
    lines = narrow.layout.title.text.split("<br>")
    assert (max(map(len, lines)) <= 46, " ".join(lines)) == (True, notice)
    assert narrow.layout.height - wide.layout.height == (len(lines) - 2) * 16


@pytest.mark.parametrize("notice", ["", "A preview: by rules"])
def test_a_legend_at_the_top_is_below_what_is_written_there(notice: str):
    frame = pd.DataFrame([{"name": "A : B", "by": "people", "comparisons": 4, "a": 2, "tie": 1, "both_bad": 0, "b": 1}])
    plain = preference_bars(frame)
    figure = with_caption(with_notice(preference_bars(frame), notice), "Which is preferred", SOURCE)
    above = (1 - figure.layout.legend.y) * figure.layout.height
    assert above == pytest.approx(figure.layout.height - plain.layout.height)
    assert above > CAPTION_ROOM - 1
