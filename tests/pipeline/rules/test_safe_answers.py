"""The generator quotes no advice without the lead, heading or list head that decides what it means, or says nothing."""

from __future__ import annotations

import pytest

from audit.pipeline.rules.answers.extractive_generator import extractive_answers
from audit.text.documents import Document, Section
from tests.pipeline.generation.leaflets import asked

DIARRHEA = """Loose stools can last for days.

DO:
• Drink clear liquids such as broth or apple juice.
• Eat bland foods such as rice or toast.

DON'T:
• Drink caffeine or alcohol.
• Eat fried foods."""
HABITS = """Alcohol can harm your liver. Never smoke:
• cigarettes
• cigars or pipes

Doing so can lead to an infection of the lungs."""
FEVER = """Store your medicines at 59 to 86 degrees F. Call your team right away if you have:
• A fever of 100.4 F (38 C) or higher. Do not take anything for it first.
• Shaking chills."""
FISH = "• raw fish\n• soft cheese"
DOSES = "Take two tablets each morning. If you miss a dose, take it as soon as you remember. Never take two doses at once."
SPLIT = "DO:\n\nEat small meals. Drink between meals.\n\nDON'T:\n\nDrink liquids during a meal. Eat fried food."
TABLE = "Ibuprofen | Allowed: no\nParacetamol | Allowed: yes\nNaproxen | twice a day"


def handbook(**texts: str) -> Document:
    """One section per text; an underscore in a name is a blank in the heading."""
    sections = (Section(f"s{number}", heading.replace("_", " "), text) for number, (heading, text) in enumerate(texts.items(), 1))
    return Document("kidney_alder_post", "kidney", "Alder", "post", tuple(sections))


def answer(question: str, document: Document, **settings: object) -> str:
    one = asked(question, *(section.section_id for section in document.sections), document=document)
    (record,) = extractive_answers([one], **settings)
    return str(record["answer"])


def test_an_item_of_a_list_of_donts_is_quoted_with_its_lead():
    assert answer("Can I drink alcohol if I have diarrhea?", handbook(Diarrhea=DIARRHEA)) == (
        "Diarrhea: DON'T: Drink caffeine or alcohol. [1]"
    )


def test_a_lead_or_a_heading_may_name_the_case_that_is_asked_about():
    text = "Have diarrhea? | DO:\n• Drink clear liquids.\n• Eat bland foods."
    assert answer("What should I do if I have diarrhea?", handbook(Digestion=text)).startswith("Have diarrhea? DO: Drink clear")
    text = "If you have any of these problems:\n• Stomach pain or diarrhea"
    assert answer("What should I do if I have diarrhea?", handbook(When_to_call_us=text)) == (
        "When to call us: If you have any of these problems: Stomach pain or diarrhea. [1]"
    )


def test_items_of_opposite_lists_are_joined_only_behind_both_leads():
    text = answer("What should I eat or drink if I have diarrhea?", handbook(Diarrhea=DIARRHEA))
    do, _, dont = text.partition("DON'T:")
    assert "DO: Drink clear liquids" in do
    assert "caffeine" not in do
    assert "Drink caffeine or alcohol" in dont


def test_never_smoke_stays_with_what_must_not_be_smoked():
    text = answer("Can I smoke?", handbook(Alcohol_and_tobacco=HABITS))
    assert text == "Never smoke: cigarettes; cigars or pipes. [1]"


@pytest.mark.parametrize("question", ["What should I do if I have a fever?", "What temperature counts as a fever?"])
def test_a_fever_is_that_of_the_body(question: str):
    text = answer(question, handbook(When_to_call=FEVER))
    assert "Call your team right away if you have: A fever of 100.4 F (38 C) or higher." in text
    assert "59" not in text


@pytest.mark.parametrize("heading", ["Foods_to_avoid", "Not_allowed", "Never_eat"])
def test_a_heading_that_forbids_is_quoted_in_front_of_its_items(heading: str):
    text = answer("Can I eat raw fish?", handbook(**{heading: FISH}))
    assert text == f"{heading.replace('_', ' ')}: raw fish. [1]"


def test_a_fact_in_a_heading_can_be_quoted():
    document = handbook(You_may_travel_after_6_months="Ask for a letter that you can carry.", Pets="A dog is fine.")
    assert answer("When can I travel?", document) == "You may travel after 6 months. [1]"


def test_a_passage_that_begins_in_the_middle_of_a_list_knows_its_lead():
    document = handbook(Habits=HABITS)
    one = asked("Can I smoke cigars?", "s1", document=document)
    start = HABITS.index("• cigars")
    one.retrieval["passages"][0].update(start=start, end=start + 18, text=HABITS[start : start + 18])
    (record,) = extractive_answers([one])
    assert record["answer"] == "Never smoke: cigars or pipes. [1]"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What do I do if I missed one of my doses?", "If you miss a dose, take it"),
        ("Taking two doses: is it safe?", "Never take two"),
    ],
)
def test_other_forms_of_a_word_are_the_same_word(question: str, expected: str):
    assert expected in answer(question, handbook(Your_medicine=DOSES))


def test_sentences_under_list_heads_that_lost_their_lists_are_not_quoted():
    assert answer("Can I drink liquids during a meal?", handbook(Nausea=SPLIT)).startswith("NOT ADDRESSED")


def test_a_row_is_quoted_with_the_heads_of_its_columns_or_not_at_all():
    assert answer("Can I take ibuprofen?", handbook(Pain_relievers=TABLE)) == "Ibuprofen | Allowed: no. [1]"
    assert answer("Can I take naproxen?", handbook(Medicines=TABLE)).startswith("NOT ADDRESSED")


def test_a_sentence_that_a_page_break_tore_apart_is_quoted_whole_or_not_at_all():
    assert answer("Can I drink wine?", handbook(Wine="You must not\n\ndrink wine or beer at any time.")) == (
        "You must not drink wine or beer at any time. [1]"
    )
    assert answer("Can I drink wine?", handbook(Wine="drink wine or beer at any time.")).startswith("NOT ADDRESSED")


def test_a_sentence_that_limits_another_comes_with_it():
    text = answer("Can I swim?", handbook(Sports="You may swim after six weeks. But stay out of lakes. Gyms are fine."))
    assert text == "You may swim after six weeks. But stay out of lakes. [1]"


@pytest.mark.parametrize(
    ("question", "about_it", "answering"),
    [
        ("How soon may I drive?", "Ask a friend to drive you home.", "You may drive after six weeks."),
        ("How soon can I start exercising?", "Exercise 3 to 5 times a week.", "Start exercising after 6 weeks."),
        ("How much water should I drink?", "Drink water with each meal.", "Drink 2 liters of water a day."),
        ("Whom do I call about a rash?", "A rash is common.", "Call the nurse about a rash."),
        ("Can I take aspirin?", "Aspirin thins the blood.", "Do not take aspirin."),
        ("How often is my blood tested?", "Blood tests show how the kidney works.", "Blood tests are done twice a week."),
        ("What should I do if I have a fever?", "Stay away from people who have a fever.", "If you have a fever, call us."),
        ("What temperature is a fever?", "Keep your refrigerator at a temperature of 40 F.", "A fever is 100.4 F or higher."),
        ("When should I call the doctor?", "The doctor on call may see you.", "Call your doctor if you vomit."),
        ("How often do I take my pills?", "People often forget their pills.", "Take your pills twice a day."),
        ("Who is at risk of diabetes?", "Diabetes is a cause of kidney disease.", "Risk factors for diabetes include obesity."),
    ],
)
def test_a_statement_without_the_kind_of_fact_that_is_asked_for_is_no_answer(question: str, about_it: str, answering: str):
    assert answer(question, handbook(Life=about_it)).startswith("NOT ADDRESSED")
    assert answer(question, handbook(Life=f"{about_it} {answering}")) == f"{answering} [1]"


def test_below_a_heading_an_instruction_about_something_else_is_no_permission():
    assert answer("Is it OK to smoke?", handbook(Smoking="Be physically active. Keep learning.")).startswith("NOT ADDRESSED")


def test_a_word_in_another_meaning_does_not_answer():
    document = handbook(Hands="Use a hand sanitizer with 60 % alcohol.", Care="The social worker will work with you.")
    assert answer("Can I drink alcohol?", document).startswith("NOT ADDRESSED")
    assert answer("When can I go back to work?", document).startswith("NOT ADDRESSED")


def test_an_act_that_is_asked_about_must_be_spoken_of():
    tests = "These tests are done:\n• Blood tests\n• A test of the lungs"
    assert answer("Can I eat before the test?", handbook(Tests=tests)).startswith("NOT ADDRESSED")
    assert answer("Can I eat before the test?", handbook(Tests=f"{tests}\n\nDo not eat before the test.")) == (
        "Do not eat before the test. [1]"
    )


def test_fast_food_is_neither_fasting_nor_a_fast_heart():
    text = "Avoid fasting diets. Avoid foods with fast acting sugar."
    assert answer("Can I eat fast food?", handbook(Eating=text)).startswith("NOT ADDRESSED")
    assert answer("Can I eat fast food?", handbook(Eating=f"{text} Avoid fast food.")) == "Avoid fast food. [1]"


def test_of_a_list_of_which_several_items_are_quoted_none_is_left_out():
    text = "Signs of rejection:\n• fever\n• swelling of the feet\n• less urine than usual\n• pain over the kidney"
    quoted = answer("What are the signs of rejection?", handbook(Rejection=text))
    assert quoted == "Signs of rejection: fever; swelling of the feet; less urine than usual; pain over the kidney. [1]"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Can I exercise?", "Common triggers of asthma include: exercise."),
        ("Can I exercise?", "Exercise caution when you take pain medicines."),
        ("Can I eat salt?", "During my internship I learned to cook, and people could eat a little salt."),
        ("Can I exercise?", "Moderate exercise was recommended for the control group."),
        ("What is dialysis?", "Financial support is an argument against dialysis."),
        ("What is dialysis?", "A long wait for dialysis is not a reason to stop."),
        ("How much protein should I eat every day?", "Buy frozen meals with at least 20 grams of protein."),
        ("Am I at risk of kidney failure if my mother had it?", "Kidney failure develops in some people at risk."),
        ("Can I go out to eat?", "Do not eat raw fish."),
        ("Can I have children after a transplant?", "Some children are ready to go home 3 months after a transplant."),
    ],
)
def test_a_statement_with_the_words_of_a_question_may_be_no_answer(question: str, text: str):
    assert answer(question, handbook(Notes=text)).startswith("NOT ADDRESSED")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is dialysis?", "Dialysis is a treatment that cleans your blood."),
        ("What is creatinine?", "Serum creatinine is a waste product of your muscles."),
        ("How much protein should I eat every day?", "Eat 60 grams of protein a day."),
        ("Am I at risk of kidney failure if my mother had it?", "People are at risk if a parent had kidney failure."),
        ("Can I go out to eat?", "Do not eat from the buffet of a restaurant."),
        ("Can I go to a restaurant?", "Ask for meals without salt if you eat out."),
        ("Can I have children after a transplant?", "You may become pregnant from one year after your transplant on."),
        ("What happens if I do not eat enough?", "If you do not eat enough, your body takes protein from your muscles."),
        ("Why do I need a biopsy?", "A biopsy is the best way to find out whether your body rejects the kidney."),
        ("When may I soak in the tub?", "Avoid soaking in a bath until your surgeon clears you."),
        ("How cold should my fridge be?", "Keep your refrigerator as cold as 33 to 40 degrees F."),
    ],
)
def test_an_answer_in_other_words_is_found(question: str, text: str):
    assert answer(question, handbook(Notes=text)) == f"{text} [1]"
