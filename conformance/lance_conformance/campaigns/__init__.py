"""Campaigns: long runs against the oracle and against damaged bytes; resumable, with a census."""
