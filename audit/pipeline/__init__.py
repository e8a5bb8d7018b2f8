"""From handbooks and questions to a run, stage by stage: what is done already is known, and is not done again."""
