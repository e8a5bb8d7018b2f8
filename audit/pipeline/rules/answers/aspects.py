"""The kinds of fact that a question asks for, and how a statement shows that it has one: a time, an amount, a permission.

A statement on the right subject without that fact ("Arrange a ride home" for "How soon may I drive?") is not an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from audit.text.tokens import plain_text
from audit.text.units import ONES, TENS

NUMBER = rf"(?:\d[\d,.]*|{'|'.join([*ONES, *TENS])}|a few|several|half)"
TIME = r"(?:second|minute|hour|hr|day|night|week|month|year)s?"
SPAN = rf"(?:{NUMBER}[\s-]*(?:(?:to|or|-|and)\s*{NUMBER}[\s-]*)?(?:(?:full|more|additional)\s)?{TIME}|\ban?\s{TIME})\b"
UNITS = (
    r"(?:%|percent|[°º⁰˚]\s?[cf]?|degrees|mg|mcg|g|grams?|kg|kilograms?|lbs?|"
    r"pounds?|ounces?|oz|ml|lit(?:er|re)s?|cups?|glass(?:es)?|quarts?|gallons?|"
    r"inch(?:es)?|feet|foot|miles?|minutes?|hours?|days?|weeks?|months?|years?|times|tablets?|pills?|drinks?|servings?|"
    r"teaspoons?|tablespoons?|calories|units?|steps?|stairs|visits?|people|packs?)"
)
NEGATION = r"(?:not|never|no|none|neither|nor|cannot|without|avoid\w*|don'?ts?)"
LIMITS = r"(?:limit\w*|until|unless|only|except|stop|quit|instead|unsafe|forbidden|prohibited|refrain|stay away|keep away)"
# "May cause" and "can be" describe what happens, not what is permitted
DESCRIBES = (
    r"(?!\s+(?:also\s+|still\s+|sometimes\s+|not\s+)?(?:cause|become(?! pregnant)|"
    r"feel|see|notice|make|lead|occur|happen|affect|increase|damage|"
    r"harm|result|appear|develop|experience|include|last|lower|raise|worsen|vary|spread|reduce|interact))"
)
PERMITS = (
    rf"\b(?:(?:can|may|could|might){DESCRIBES}|ok|okay|o\.k\.|safe|"
    rf"safely|allowed|permitted|fine|should|must|recommend\w*|advis\w*|"
    rf"have to|has to|needs? to|free to|ready to|wait|resume|return|before you|talk (?:to|with)|ask|check with|approv\w*|"
    rf"permission|better to|best to|harmful|dangerous|risky|not|{LIMITS}|never|no|cannot|avoid\w*|without)\b|n't\b"
)
_VERBS = """
add allow always apply arrange ask attend avoid be begin boil bring brush call carry change check choose clean consider
consult contact continue cook cover cut discard discuss do don't drink dry eat encourage ensure exercise expect finish follow
get give go have help hold inform inspect keep learn leave let lie lift limit listen look maintain make mark measure move
never notify only open order pack page peel perform place plan please practice press prevent protect put rather record reduce
refrigerate refrain rely remember remind remove replace report rest resume return rinse save schedule seek select
separate set shower show sit sleep speak start stay stop store take talk tell test throw touch treat trim try turn use
visit wait walk warm wash watch wear weigh wipe write
"""
# "Triggers include: exercise" is not advice to exercise
AFTER_LEAD = r"(?<!include)(?<!includes)(?<!including)(?<! are)(?<!such as):\s*"
IMPERATIVE = rf"(?:^|{AFTER_LEAD}|[;.,•]\s*|\b(?:then|and|or|also)\s)(?:{'|'.join(_VERBS.split())})\b"
PEOPLE = (
    r"(?:team|doctor|physician|nurse|coordinator|clinic|office|provider|pharmac\w+|hospital|dentist|surgeon|specialist|911|"
    r"9-1-1|emergency|hotline|operator|center|centre|social worker|dietitian|us|someone)"
)
PHONE = r"(?:\(\d{3}\)\s?|\d{3}[-.\s])\d{3}[-.\s]\d{4}|\b911\b|\b9-1-1\b|\b999\b"


INSTRUCTS = (
    rf"{IMPERATIVE}|\b(?:you|child|patients?|they|he|she)\b.{{0,20}}\b(?:should|"
    rf"must|need to|have to|has to|needs to)\b|\bplease\b|\bcall\b"
)
PROHIBITS = (
    r"\b(?:do(?:es)? not(?! need| tend| worry| affect| have to| require| hesitate)|don'?ts?|never|avoid(?!ed)\w*|"
    r"(?:should|must|may|can|could) ?n[o']t|"
    r"can't|not (?:to|be|safe|allowed|recommended|eat|take|drink|"
    r"use)|stay away|keep away|unsafe|limit\w*|no longer|refrain|forbidden|prohibited)\b"
)
LIST_HEADS = r"(?:dos?|do's|don'?ts?|safe|unsafe|not safe|ok|okay|allowed|not allowed|yes|no)"


@dataclass(frozen=True)
class Aspect:
    """A kind of fact: how a question asks for it, and how a statement has it.

    named_first whether the statement must name the question's subject before what shows that it has the fact: "Dialysis is ..."
    by_heading  whether a heading can have it for the statements below: "6 months after transplant", "Foods to avoid"
    below_heading  what a statement must have that is about the question's subject only by its heading; None: no more than others
    conditional whether the statement must name the question's case as a case: "if you have a fever", or below such a lead
    """

    name: str
    asks: re.Pattern[str]
    has: re.Pattern[str]
    by_heading: bool = False
    conditional: bool = False
    below_heading: re.Pattern[str] | None = None
    named_first: bool = False


def _aspect(
    name: str,
    asks: str,
    has: str,
    by_heading: bool = False,
    conditional: bool = False,
    below_heading: str = "",
    named_first: bool = False,
) -> Aspect:
    below = re.compile(below_heading) if below_heading else None
    return Aspect(name, re.compile(asks), re.compile(has), by_heading, conditional, below, named_first)


# Nobody waits "5 minutes" or "3 times a week" before going back to work
AGO = r"(?<!last )(?<!past )(?<!previous )"
WAIT = rf"{AGO}\b{NUMBER}[\s-]*(?:(?:to|or|-|and)\s*{NUMBER}[\s-]*)?(?:full )?(?:hours?|days?|nights?|weeks?|months?|years?)\b"
SUBJECT = r"(?:i|we|he|she|they|my \w+|patients?|someone|one|people|recipients?|a \w+|the \w+)"
SOON = (
    r"start|begin|return|go back|get back|resume|again|back|drive|travel|"
    r"fly|swim|work|lift|exercise|shower|bathe|have sex|leave|go home|"
    r"visit|eat|drink|get|have|play|take a"
)
DEGREES = r"\d{2,3}(?:\.\d)?\s?(?:°|º|⁰|˚|o\b|degrees|f\b|c\b)"
CALLS = r"(?:call|contact|phone|page|tell|notify|report|seek)(?:ing|s)?|see (?:your|a|the)"
CASES = r"if|when|whenever|any of|these|following|immediately|right away|at once"
STATES = r"\b(?:is|are|was|refers? to|means?|called|known as|occurs?|happens?|includ\w+)\b"
# The first aspect that matches the question is used
ASPECTS = (
    # "Diabetes is a cause of kidney disease" does not say who gets diabetes
    _aspect(
        "who gets it",
        r"^\W*who\b.{0,30}\b(?:risk|gets?|likely)\b",
        r"\bat (?:\w+ )?risk\b|\brisk factors? for\b|\bmore likely to\b",
    ),
    # A refrigerator has a temperature too
    _aspect(
        "fever",
        r"\b(?:temperature|degrees?|high)\b.{0,30}\bfever\b|\bwhat (?:is|counts as) (?:considered )?a (?:high )?fever",
        rf"^(?!.*\b(?:refrigerat|freez|cook|stor(?:e|age)|room temp|oven|internal))(?=.*{DEGREES})",
    ),
    _aspect(
        "temperature",
        r"\b(?:what|which) temperature|how high\b.{0,30}\btemperature",
        DEGREES,
    ),
    _aspect(
        "what value",
        r"\b(?:what|which) (?:is (?:my|a|the) )?(?:\w+ )?(?:blood pressure|weight|"
        r"blood sugar|glucose|heart rate|pulse|cholesterol|level|target)\b",
        r"\d{2,3}\s?/\s?\d{2,3}|\d\s?(?:mm|mg|mmol|beats|%|kg|pounds|lbs)|\b(?:below|above|under|over|than|between) \d",
    ),
    _aspect(
        "how often",
        r"\bhow (?:often|frequent\w*)|how many times",
        rf"\b(?:daily|weekly|monthly|yearly|annual\w*|nightly|hourly|once|twice|regularly|{NUMBER} times?)\b|\ba {TIME}\b|"
        rf"\b(?:every|each|per) (?:other |few |{NUMBER} )?(?:{TIME}|morning|evening|meal|visit|time)\b",
    ),
    _aspect(
        "how long",
        r"\bhow (?:long(?! after| before| until)|late|far ahead)|how many (?:hours|days|weeks|months|years)\b",
        rf"(?<!every )(?<!within ){AGO}\b{SPAN}|\b(?:until|as soon as|lifelong|for life|of (?:your|their|his|her) life|forever|"
        r"overnight|temporar\w*|as long as|for (?:\w+ )?(?:days|weeks|months|years))\b",
    ),
    _aspect(
        "how soon",
        r"\bhow (?:soon|early|long (?:after|before|until))\b|"
        rf"\bwhen (?:can|may|could|should|will|is it|am|do|would|must) {SUBJECT}?\b.{{0,40}}\b(?:{SOON})\b",
        rf"{WAIT}|\b(?:until|as soon as|(?:days|weeks|months|years))\b|\b(?:when|once|before) (?:you|your|the)\b|"
        r"\bafter (?:you|your \w+(?: \w+)? (?:is|are|has|have))\b",
        by_heading=True,
    ),
    _aspect(
        "how much to drink",
        r"\bhow (?:much|many)\b.*\b(?:drink|water|fluids?|liquids?|glasses|cups)\b",
        rf"{NUMBER}[\s-]*(?:(?:to|or|-|and)\s*{NUMBER}[\s-]*)?(?:fluid )?(?:ml|"
        rf"lit(?:er|re)s?|cups?|glass(?:es)?|quarts?|ounces?|oz|pints?)\b|\blimit\w*\b",
    ),
    _aspect(
        "how much",
        r"\bhow (?:much|many|heavy|large|big|high|low|far|old|hot|warm|strong)\b|\bwhat (?:amount|dose|age)\b",
        rf"{NUMBER}[\s-]*(?:(?:to|or|-|and)\s*{NUMBER}[\s-]*)?{UNITS}(?![a-z])|\b(?:half|none|no more|plenty|unlimited|"
        r"as much as|limit\w*)\b",
    ),
    _aspect(
        "whom",
        r"\bwhom?\b.{0,30}\b(?:call|contact|tell|ask|talk|speak|turn|see|notify|reach)|\bwho (?:can help|do|should|to)|"
        r"\b(?:phone|telephone) number|what number",
        rf"{PHONE}|\b(?:call|contact|phone|page|ask|tell|notify|talk|speak|report|see|message|reach)\w*\b.{{0,60}}\b{PEOPLE}\b",
    ),
    _aspect(
        "when to call",
        r"\bwhen\b.{0,20}\b(?:call|contact|see|seek|worry|tell|notify|go to the (?:hospital|emergency))",
        # "The doctor on call" names no case
        rf"\b(?:{CALLS})\b.{{0,120}}\b(?:{CASES})\b|\b(?:{CASES})\b.{{0,200}}\b(?:{CALLS})\b",
        by_heading=True,
    ),
    _aspect(
        "when",
        r"^\W*(?:by |from |since |until )?when\b|\bwhat (?:time|hour)\b|\bat what point\b",
        rf"{SPAN}|\d\s?[ap]\.?m\b|\b(?:before|after|until|when|if|during|while|as soon as|once|morning|evening|night|bedtime|"
        r"noon|daily|every|each|immediately|right away|always|at any time|by the time)\b",
        by_heading=True,
    ),
    _aspect(
        "why",
        r"^\W*why\b|\bwhat is the reason\b",
        r"\b(?:because|since|so that|so you|reason\w*|to (?:help|prevent|"
        r"protect|make|keep|reduce|avoid|lower|check|find out|see (?:if|how|whether)|look for|tell (?:if|how|whether)|show|"
        r"diagnose|measure|monitor|learn)|due to|cause\w*|therefore|(?:can|may|could|will) (?!(?:also )?be )|"
        r"risk\w*|helps?|prevents?|allows?|needed for)\b",
    ),
    _aspect(
        "what to avoid",
        r"\b(?:what|which)\b.{0,40}\b(?:avoid|not|never|can't|cannot|shouldn't|stay away)\b",
        PROHIBITS,
        by_heading=True,
    ),
    _aspect(
        "what are",
        r"^\W*(?:what|which) (?:(?:are|is) )?(?:the |some |common |warning |early |"
        r"first |possible )*(?:signs?|symptoms?|side effects?|risks?|causes|"
        r"complications?|problems)\b",
        r"\b(?:signs?|symptoms?|(?:side )?effects?|risks?|causes?|complications?|"
        r"problems?)\b.{0,50}(?:\b(?:includ\w+|such as|are|is|may be|"
        r"can be|like)\b|:|\bbelow)",
    ),
    # "What is dialysis?", but not "What are the treatments for anemia?"
    _aspect(
        "definition",
        r"^\W*what (?:is|are) (?:an? |the )?(?!.*\b(?:of|for|from|with|about|to|in|on|if|when|my|best)\b)[^?]*\?*$",
        STATES,
        named_first=True,
    ),
    _aspect("what is", r"^\W*what (?:is|are) (?:an? |the )?[^?]*\?*$", rf"{STATES}|:"),
    _aspect(
        "what to take",
        r"^\W*what (?:else )?(?:can|may|should|could|do) \w+ (?:take|use)\b",
        r"\b(?:take|taking|prescri\w+|give|medicines?|medications?|drugs?|"
        r"tablets?|pills?|relievers?|tylenol|acetaminophen|use|try)\b",
    ),
    _aspect(
        "what to do if",
        r"\bwhat (?:should|do|can|must|shall|could|would) (?:i|we|my \w+|"
        r"you)\b.{0,20}\bdo\b.{0,12}\b(?:if|when|about|for|with)\b|"
        r"\bwhat if\b|\bwhat (?:to|can i|should i) do (?:if|about|for|when)\b",
        INSTRUCTS,
        by_heading=True,
        conditional=True,
    ),
    _aspect(
        "how to",
        r"\bhow (?:do|can|should|shall|must|could|may|to)\b|\bwhat (?:should|can) \w+ do\b",
        rf"{INSTRUCTS}|{PERMITS}|\b(?:will|by)\b",
    ),
    _aspect(
        "may I",
        r"\b(?:can|may|could|should|must|shall) (?:i|we|he|she|they|you|one|my|the|"
        r"an?|patients?|people|recipients?|\w+ (?:have|keep|eat|get|take|go|be))\b|"
        r"\b(?:is|are|am|was)\b.{1,40}\b(?:ok|okay|safe|all right|alright|"
        r"fine|allowed|permitted|forbidden|possible|recommended)\b|"
        r"\b(?:do|does|will) \w+ (?:have|need) to\b|\b(?:must|may|can) ",
        rf"{PERMITS}|{IMPERATIVE}",
        by_heading=True,
        # "Smoking: Be physically active" is not a permission
        below_heading=PERMITS,
    ),
)
ASKS_FOR_LIST = re.compile(
    r"^\W*(?:what|which) (?:are|kinds?|types?|\w+ (?:should|can|may|are|do|must)|(?:warning )?signs|symptoms)\b"
)


def aspect_of(question: str) -> Aspect | None:
    """The kind of fact that a question asks for; None where any statement on its subject may answer it."""
    plain = plain_text(question).strip()
    return next((aspect for aspect in ASPECTS if aspect.asks.search(plain)), None)
