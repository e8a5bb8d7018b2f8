"""The fields of sources (groups of handbooks), and of how a system routed a question to them and gathered its evidence."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.release.system_fields import SYSTEM_ID

SOURCE = (
    Field("source_id", "text", "unique id, such as a center or an organ", required=True, aliases=("id", "source", "name")),
    Field(
        "handbook_ids", "texts", "its handbooks; a handbook is in one source at most", required=True,
        aliases=("handbooks", "members"),
    ),
    Field("authority", "number", "0 to 1: its weight before anything is searched; left out: 0.5", aliases=("prior",)),
    Field("description", "text", "what else is worth knowing", aliases=("about",)),
)  # fmt: skip
SOURCE_ROUTE = (
    Field("source_id", "text", "the source", required=True, aliases=("source",)),
    Field("authority", "number", "its authority, 0 to 1", aliases=("prior",)),
    Field("probed", "integer", "chunks in its probe"),
    Field("peak", "number", "best score of the probe"),
    Field("mean", "number", "mean of its best scores"),
    Field("margin", "number", "best score less the last of the best"),
    Field("entropy", "number", "entropy of the probe's scores"),
    Field("coverage", "number", "sections in the probe, as a count or a share"),
    Field("score", "number", "what the sources are ranked by"),
    Field("share", "number", "its share of the budget, 0 to 1; the shares of a question add up to 1"),
    Field("budget", "integer", "chunks to take from it, from 0"),
)
ROUTED_EVIDENCE = (
    Field("handbook_id", "text", "the handbook it is from", required=True, aliases=("handbook",)),
    Field("section_id", "text", "its section there", aliases=("section",)),
    Field("start", "integer", "its first character in the section's text, from 0; left out: the whole section"),
    Field("end", "integer", "the character after its last"),
    Field("source_id", "text", "its source; left out: that of its handbook", aliases=("source",)),
    Field("rank", "integer", "its rank, from 1; left out: its place in the list", aliases=("position",)),
    Field("base", "number", "score of the search, before fusion"),
    Field("support", "number", "score of its support in the graph of entities"),
    Field("final", "number", "score after fusion", aliases=("score",)),
    Field("bridged", "flag", "it was found through the graph and not by the search"),
    Field("text", "text", "its text, where the release has no sections", aliases=("passage",)),
)
ROUTE = (
    QUESTION_ID,
    SYSTEM_ID,
    Field("routes", "source routes", "what was decided about each source, best first", aliases=("sources", "ranking")),
    Field("evidence", "routed evidence", "the passages that were packed, best first", aliases=("passages",)),
    Field("trace", "object", "settings, entities, seeds, edges of the drawn part of the graph, packing and notes"),
)
