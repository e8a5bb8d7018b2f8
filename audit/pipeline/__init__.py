"""From handbooks and questions to a run, stage by stage; tasks that are already done are skipped."""
