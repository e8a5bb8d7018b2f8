-- One loaded run, one file. Rebuilt from release files at any time, so nothing here is written by hand.
-- Handbooks and questions are numbered from 0 in release order; a pair always has handbook_a < handbook_b by that number.
-- Most tables are those of a kind of record (audit/release/*_kinds.py), made by audit.store.tables; here are the others.

create table run (            -- exactly one row
    layout      varchar not null,   -- of these tables: audit.store.tables.layout
    run_id      varchar not null,
    title       varchar not null,
    digest      varchar not null,   -- sha256 over the release's files
    synthetic   boolean not null,   -- every page says so
    has_answers boolean not null,   -- false: a release of pairs only; absence per handbook is then unknown, not zero
    has_handbooks boolean not null, -- false: a release of answering systems alone
    has_pairs   boolean not null,   -- false: nothing has compared the handbooks yet, or there are none
    has_systems boolean not null,   -- false: no answering systems
    has_routes  boolean not null,   -- false: no system routed a question to sources
    has_stress  boolean not null,   -- false: no stress tests
    ratings_digest varchar not null, -- sha256 over the files of ratings, which digest leaves out; empty: none
    further_digest varchar not null, -- the same of further verdicts
    loaded_at   timestamp not null, -- UTC
    terms       json not null,      -- display words: {"handbook": "institute", "organ": "topic area"}
    manifest    json not null,      -- as the release has it
    report      json not null       -- the load report
);

create table topics    (question integer not null, topic    varchar not null);  -- one row per question and topic

create table subtopics (question integer not null, subtopic varchar not null);

create table ratings (        -- no row: the rater gave no label
    item         integer not null,
    rater        varchar not null,          -- a, b, ...; gold: after adjudication
    label        label not null,
    significance significance,
    comment      varchar
);

create table reference_answers ( -- no row: the question has no reference answer
    question integer not null,
    place    integer not null,      -- from 0; metrics use the first
    answer   varchar not null
);

create table source_handbooks (source smallint not null, handbook smallint not null); -- a handbook is in one source at most

create table question_sources (  -- the sources that an answer needs; no row: unknown
    question   integer not null,
    source     smallint not null,
    is_primary boolean not null      -- the one to ask first
);

create table taxonomy (       -- one row where the release brings its own themes, none otherwise
    built json not null             -- how it says that they came about
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
