"""Judging: the checks of cases, the verdicts on responses, and the lists of known failures."""
