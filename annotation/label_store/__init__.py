"""Where human work is kept: studies, items, seats, ratings, decisions and accounts, in SQLite or PostgreSQL.

No table here holds a verdict of the judge, and no module here can import one: those are in `annotation.studies.verdict_store`.

    engine     open_label_store(url) -> LabelStore; transactions
    studies    create a study, list studies, move one to its next state, progress by annotator
    seats      the task an annotator has to do now, or did before
    ratings    submit, drafts, an annotator's own ratings
    results    everybody's ratings: for a PI and for analysis, never for a page that annotators open
    decisions  adjudications
    theme_acts curation of themes, act by act
    people     accounts, sessions and failed sign-ins as rows; the rules are in `annotation.studies.accounts`
    ledger     the hash chains and their check
"""
