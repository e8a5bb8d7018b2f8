"""What is left of a phrase when it is compared."""

import pytest

from audit.release.taxonomy import by_plain_phrase, plain_phrase, shown_phrase


@pytest.mark.parametrize(
    ("phrase", "plain"),
    [
        ("Different advice on lifting limit", "lifting limit"),
        ("different advice on  weeks before driving again.", "weeks before driving again"),
        ("Conflicting guidance regarding the timing of the shingles vaccine", "timing of the shingles vaccine"),
        ("disagreement about different advice on raw fish", "raw fish"),
        ("Differing fever thresholds", "fever thresholds"),
        ("lifting limit: 5 kg vs. 10 kg", "lifting limit"),
        ("daily sodium limit, 1,500 mg against 2,300 mg", "daily sodium limit"),
        ("dental work (three months or six)", "dental work"),
        ("dental work (whom to ask)", "dental work (whom to ask)"),
        ("symptoms vs inheritance and forms", "symptoms vs inheritance and forms"),
        ("policy on pets", "pets"),
        ("different advice", "advice"),
        ("24 or 48 hours", "24 or 48 hours"),
        ("IUDs", "iuds"),
    ],
)
def test_the_frame_and_the_values_go_and_the_subject_stays(phrase: str, plain: str) -> None:
    assert plain_phrase(phrase) == plain
    assert plain_phrase(plain) == plain, "what is plain stays as it is"


def test_people_read_it_in_its_own_case() -> None:
    assert shown_phrase("Different advice on IUDs") == "IUDs"


def test_nothing_is_ever_emptied() -> None:
    assert all(plain_phrase(phrase) for phrase in ("...", "'", "vs", ": 1 or 2", "(3 or 4)", "advice on"))


def test_every_wording_is_kept_with_its_plain_phrase() -> None:
    assert by_plain_phrase(["Pets", "different advice on pets", "alcohol", "pets", "Pets"]) == {
        "alcohol": ["alcohol"],
        "pets": ["Pets", "different advice on pets", "pets"],
    }
