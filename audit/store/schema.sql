-- One loaded run, one file. Rebuilt from release files at any time, so nothing here is written by hand.
-- Handbooks and questions are numbered from 0 in release order; a pair always has handbook_a < handbook_b by that number.

create type label as enum ('ABSENT', 'CONSISTENT', 'COMPLEMENTARY', 'DIVERGENT', 'CONTRADICTORY');
create type significance as enum ('low', 'medium', 'high');
create type check_kind as enum ('swap', 'blind', 'repeat');
create type planted_kind as enum (
    'amount', 'negation', 'detail', 'blank', 'order', 'synonyms', 'padding', 'swap', 'center', 'instruction'
);
create type position_method as enum ('rules', 'judge', 'release');
create type parse as enum ('strict', 'lenient', 'label', 'none', 'rules');

create table run (            -- exactly one row
    layout      varchar not null,   -- of these tables: audit.store.runs.LAYOUT
    run_id      varchar not null,
    title       varchar not null,
    digest      varchar not null,   -- sha256 over the release's files
    synthetic   boolean not null,   -- every page says so
    has_answers boolean not null,   -- false: a release of pairs only; absence per handbook is then unknown, not zero
    has_pairs   boolean not null,   -- false: nothing compares handbooks; a release of answering systems
    has_systems boolean not null,   -- false: no answering systems
    has_routes  boolean not null,   -- false: no system routed a question to sources
    has_stress  boolean not null,   -- false: no stress tests
    ratings_digest varchar not null, -- sha256 over the files of ratings, which digest leaves out; empty: none
    loaded_at   timestamp not null, -- UTC
    terms       json not null,      -- display words: {"handbook": "institute", "organ": "topic area"}
    manifest    json not null,      -- as the release has it
    report      json not null       -- the load report
);

create table handbooks (
    handbook    smallint primary key,
    handbook_id varchar not null,
    organ       varchar not null,
    center      varchar not null,
    phase       varchar not null,   -- pre, post, combined
    title       varchar,
    url         varchar,
    aliases     varchar[] not null, -- other names of the center
    pages       integer,
    silent_pages integer,           -- pictures without text; null: unknown
    unreadable  double,             -- share of its words that are not readable text
    language    varchar,            -- ISO 639 code
    digest      varchar,            -- sha256 of the file that its text was taken from
    licence     varchar,            -- of that file
    may_be_downloaded boolean not null, -- whether readers may be given the file itself
    edition     varchar,            -- which one it is, as the release has it
    edition_of  varchar             -- id that all its editions share; null: handbook_id
);

create table questions (
    question    integer primary key,
    question_id varchar not null,
    text        varchar not null,
    organ       varchar not null,
    source      varchar
);

create table topics    (question integer not null, topic    varchar not null);  -- one row per question and topic
create table subtopics (question integer not null, subtopic varchar not null);

create table answers (        -- no row: the handbook was not asked
    question       integer not null,
    handbook       smallint not null,
    answer         varchar,
    absent         boolean,         -- null: the generator's reply could not be read; neither absent nor present
    absence_method varchar,         -- prefix, check, ...; null when present
    unread_reason  varchar,         -- why it could not be read
    mode           varchar,         -- retrieval mode
    sections       varchar[],       -- cited sections
    url            varchar,
    retrieval      json,            -- mode, passages (places in sections), citations and layers, as the release has them
    input_tokens   integer,         -- of the generator; null: not stated
    output_tokens  integer,
    latency_s      float            -- seconds until its reply was there
);

create table sections (       -- no row of a handbook: its text is not in the release
    handbook   smallint not null,
    place      integer not null,    -- in reading order
    section_id varchar not null,
    heading    varchar not null,
    above      varchar[] not null,  -- the headings over it, outermost first
    text       varchar not null,
    pages      integer[] not null,  -- first and last, counted from 1
    page_starts integer[][] not null, -- [page, first character of the text on it]; empty: one page, or unknown
    url        varchar
);

create table trials (         -- what one strategy of retrieval found; no row: it was not tried
    question integer not null,
    handbook smallint not null,
    strategy varchar not null,
    mode     varchar,
    ranked   varchar[] not null,    -- section ids, best first
    gold     varchar[] not null,    -- section ids that hold the answer; empty: none known
    reason   varchar,               -- why it fell back to the full document
    seconds  double                 -- CPU
);

create table self_comparisons (  -- no row: the handbook was not compared with itself, which does not mean no disagreement
    handbook    smallint primary key,
    judge       varchar,
    statements  integer,
    agreeing    integer,            -- pairs of statements in different places with the same value; null: not stated
    compared    integer not null,   -- pairs with a verdict
    disagreeing integer not null,   -- divergent or contradictory ones among them
    unscored    integer,            -- pairs without a verdict
    not_asked   integer
);

create table inconsistencies (   -- disagreements within one handbook
    number           integer primary key,   -- in the order of the release
    handbook         smallint not null,
    question         integer,               -- null: found without a question
    label            label not null,
    significance     significance,
    divergence_topic varchar,
    reasoning        varchar,
    judge            varchar
);

create table inconsistency_places (
    number     integer not null,    -- of the inconsistency
    place      integer not null,    -- from 0, in the order of the release
    position   integer not null,    -- places with the same number agree
    section_id varchar,
    start      integer,             -- in the section's text; null: not stated
    "end"      integer,
    page       integer,
    value      varchar,             -- the amount, as written
    text       varchar not null
);

create table pairs (          -- no row: the pair was not asked
    question         integer not null,
    handbook_a       smallint not null,
    handbook_b       smallint not null,
    label            label,            -- null: unscored, the judge gave no readable verdict
    prescreened      boolean not null, -- labelled ABSENT without asking the judge
    significance     significance,     -- DIVERGENT and CONTRADICTORY only; null: not stated
    reasoning        varchar,
    divergence_topic varchar,
    input_tokens     integer,
    output_tokens    integer,
    latency_s        float
);

create view judged_pairs as   -- pairs with the two words that figures rest on; both are null where a pair is unscored:
select *,                     -- a missing verdict is neither absence nor agreement
       label <> 'ABSENT'                       as present,  -- both handbooks address the question
       label in ('DIVERGENT', 'CONTRADICTORY') as disagrees
from pairs;

create table readings (       -- how the judge's reply on a pair was read; no row: not stated
    question        integer not null,
    handbook_a      smallint not null,
    handbook_b      smallint not null,
    parse           parse,          -- null: not said; none: nothing could be read; rules: no model was asked
    unscored_reason varchar,
    cached_tokens   integer,
    prompt          varchar         -- digest of the prompt's template
);

create table checks (         -- a further verdict of the judge on a pair; no row: the pair was not checked in this way
    question     integer not null,
    handbook_a   smallint not null,
    handbook_b   smallint not null,
    kind         check_kind not null, -- other order of the answers, names of centers hidden, unchanged
    number       smallint not null,
    label        label,             -- null: unscored
    significance significance,
    parse        parse
);

create table planted (        -- a change planted in a pair, and the judge's labels before and after it; no row: not asked
    item_id         varchar not null,
    question        integer not null,
    handbook_a      smallint not null,  -- whose answer is shown first
    handbook_b      smallint not null,  -- the same as handbook_a: an answer next to itself
    kind            planted_kind not null,
    variant         varchar,            -- variant of the change
    ordered         label,              -- the label that a planted instruction asks for
    expected        label[] not null,   -- one of them is right after the change; empty: unknown, as there was no label before
    side            varchar,            -- a, b; both: the answers were swapped
    before          varchar,            -- the original words
    after           varchar,            -- the replacement
    start           integer,            -- where these begin in the changed answer; null: not stated
    answer_a        varchar,            -- both answers after the change
    answer_b        varchar,
    label_before    label,              -- null, here and below: unscored
    label           label,
    reasoning       varchar,
    unscored_reason varchar,
    judge           varchar,
    input_tokens    integer,
    output_tokens   integer,
    latency_s       double
);

create table rated_pairs (    -- a pair that raters labelled, from the release; no row: not rated
    item               integer primary key, -- in the order of the release
    item_id            varchar not null,
    question           integer not null,
    handbook_a         smallint not null,   -- whose answer was shown first
    handbook_b         smallint not null,
    stratum            varchar,             -- null: that of the judge's label
    design_weight      double,              -- null: not stated, so nothing can be said of the run
    judge              label,               -- when the sample was drawn; null: unscored or not stated
    judge_significance significance
);

create table ratings (        -- no row: the rater gave no label
    item         integer not null,
    rater        varchar not null,          -- a, b, ...; gold: after adjudication
    label        label not null,
    significance significance,
    comment      varchar
);

create table systems (        -- answering systems, numbered from 0 in release order
    system      smallint primary key,
    system_id   varchar not null,
    name        varchar,
    model       varchar,
    mode        varchar,            -- closed_book, retrieval, multi_source, human, other; null: not stated
    retriever   varchar,
    settings    json,
    description varchar
);

create table reference_answers ( -- no row: the question has no reference answer
    question integer not null,
    place    integer not null,      -- from 0; metrics use the first
    answer   varchar not null
);

create table question_types (
    question      integer primary key,
    question_type varchar,          -- null: not stated
    gold_sections varchar[] not null, -- section ids that contain the answer; empty: none known
    url           varchar
);

create table system_answers (    -- no row: the system was not asked
    question      integer not null,
    system        smallint not null,
    answer        varchar,
    refused       boolean,          -- null: the reply could not be read; neither answered nor refused
    unread_reason varchar,          -- why it could not be read
    evidence      json,             -- [{handbook_id, section_id, rank, score, text}], best first
    citations     json,
    input_tokens  integer,
    output_tokens integer,
    latency_s     double
);

create table criteria (          -- one judge's scores of one answer; no row: not judged
    question               integer not null,
    system                 smallint, -- null: the reference answer
    judge                  varchar,
    scientific_consensus   tinyint,  -- null, here and below: could not be read
    inappropriate_content  tinyint,
    missing_content        tinyint,
    extent_of_harm         tinyint,
    likelihood_of_harm     tinyint,
    bias                   tinyint,
    empathy                tinyint,
    grammaticality         tinyint,
    explanations           json,     -- criterion -> reason
    parse                  parse,    -- as in readings
    unscored_reason        varchar,
    input_tokens           integer,
    output_tokens          integer,
    latency_s              double
);

create table preferences (       -- one rater's choice between two answers; no row: not compared
    question    integer not null,
    system_a    smallint not null,
    system_b    smallint not null,
    preference  varchar not null,    -- A, B, tie, both_bad
    rater       varchar,
    rater_kind  varchar not null,    -- human, judge
    shown_first varchar,             -- A or B; null: unknown
    comment     varchar
);

create table system_measures (   -- reference metrics of an answer, and retrieval measures of a question; no row: not measured
    question integer not null,
    system   smallint not null,
    measure  varchar not null,
    value    double not null
);

create table sources (           -- groups of handbooks that are searched and cited as one, numbered from 0 in release order
    source      smallint primary key,
    source_id   varchar not null,
    authority   double not null,     -- 0 to 1: its weight before anything is searched
    description varchar
);

create table source_handbooks (source smallint not null, handbook smallint not null); -- a handbook is in one source at most

create table question_sources (  -- the sources that an answer needs; no row: unknown
    question   integer not null,
    source     smallint not null,
    is_primary boolean not null      -- the one to ask first
);

create table routes (            -- a routing decision about one source; no row: it was not probed
    question  integer not null,
    system    smallint not null,
    source    smallint not null,
    rank      integer not null,      -- from 1, best first
    authority double,                -- null, here and below: not stated
    probed    integer,               -- chunks in its probe
    peak      double,                -- five features of the probe
    mean      double,
    margin    double,
    entropy   double,
    coverage  double,
    score     double,                -- S
    share     double,                -- of the softmax over the sources
    budget    integer                -- chunks to take from it
);

create table routed_evidence (   -- a passage of the evidence, best first
    question   integer not null,
    system     smallint not null,
    rank       integer not null,     -- from 1
    source     smallint,             -- null: its handbook is in no source
    handbook   smallint not null,
    section_id varchar,
    start      integer,              -- in the section's text; null: the whole section
    "end"      integer,
    base       double,               -- scores before fusion, of the support across sources, and after fusion
    support    double,
    final      double,
    bridged    boolean not null,     -- found through the graph and not by the search
    text       varchar               -- where the release has no sections
);

create table route_traces (      -- one row for each question that a system routed; no row: it did not
    question integer not null,
    system   smallint not null,
    trace    json                    -- settings, entities, seeds, drawn part of the graph, packing, notes
);

create table stress_instances (  -- one question with one context, numbered from 0 in release order
    instance     integer primary key,
    instance_id  varchar not null,
    test         varchar not null,   -- standard, sufficiency, integration, robustness
    question     integer not null,
    options      json,               -- letter -> text; null: an open question
    gold         varchar not null,   -- letter; text of an open question
    signal_share tinyint,            -- 0 to 100, as requested; null: not stated
    size         smallint not null,  -- number of documents, as requested
    dataset      varchar,
    seed         integer
);

create table stress_documents (  -- what a system is shown, in this order
    instance     integer not null,
    place        smallint not null,  -- from 0
    document_id  varchar not null,
    text         varchar not null,
    is_signal    boolean not null,   -- false: noise, from another question
    is_factual   boolean not null,   -- false: an error was planted
    edited_from  varchar,
    edit         json,               -- kind, before, after, start
    sub_question varchar,
    sub_answer   varchar,
    false_answer varchar
);

create table stress_replies (    -- no row: the system was not asked
    instance      integer not null,
    system        smallint not null,
    reasoning     varchar,
    choice        varchar,           -- letter; text of an open question; null: insufficient or unreadable
    insufficient  boolean,           -- null: no choice could be read; neither answered nor insufficient
    score         float,             -- of the answer to an open question: 0, 0.5, 1; null: not graded
    unread_reason varchar,           -- why no choice could be read
    input_tokens  integer,
    output_tokens integer,
    latency_s     double
);

create table stress_calls (      -- no row: the reply does not classify the document
    instance integer not null,
    system   smallint not null,
    place    smallint not null,      -- of the document
    call     varchar not null        -- relevant, noise, factual, wrong
);

create table stress_sub_answers ( -- no row: the reply has no answer to the document's sub-question
    instance integer not null,
    system   smallint not null,
    place    smallint not null,      -- of the document
    answer   varchar not null,
    score    float                   -- 0, 0.5, 1; null: not graded
);

create table positions (      -- no row of a question: the release brings none; they are then found by rules when asked for
    number    integer primary key,  -- in the order of the release
    question  integer not null,
    aspect    varchar,
    statement varchar not null,
    value     varchar,
    method    position_method not null
);

create table position_holders ( -- every quote stands in the holder's answer
    number   integer not null,
    handbook smallint not null,
    quote    varchar not null,
    lead     varchar,
    start    integer,               -- in characters of the answer; null, as the end: the release came without answers
    "end"    integer
);

create table taxonomy (       -- one row where the release brings its own themes, none otherwise
    built json not null             -- how it says that they came about
);

create table themes (         -- the release's own themes, parents among them
    theme_id  varchar primary key,
    name      varchar not null,
    parent_id varchar,              -- the theme above it; null at the top
    terms     varchar[] not null,
    medoid    varchar,
    exemplars varchar[] not null,
    named_by  varchar
);

create table theme_topics (   -- which divergence topic belongs to which theme, each once
    topic    varchar primary key,   -- as the pairs have it
    theme_id varchar,               -- null: said to belong to none
    x        float,                 -- its place on the map; null where the release brings none
    y        float
);

create table findings (       -- what the loader had to say, record by record
    file     varchar not null,
    position varchar not null,
    outcome  varchar not null,         -- quarantined, repaired, noted
    code     varchar not null,
    message  varchar not null,
    record   varchar                   -- the quarantined record as it stood, cut at 2,000 characters
);
