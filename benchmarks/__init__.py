"""The budgets of the design, each measured as a ratio against what a user would otherwise use, in one run; nothing here fails on time."""
