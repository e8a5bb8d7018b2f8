"""A model judges answers by their evidence: faithfulness, context precision and recall, answer relevance, citations."""
