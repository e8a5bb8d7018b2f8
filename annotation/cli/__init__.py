"""The commands of `audit` about people's work: studies, accounts, agreement, prevalence and theme edits."""
