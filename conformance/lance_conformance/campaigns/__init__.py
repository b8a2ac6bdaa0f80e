"""Campaigns: long, resumable runs that compare with the oracle or damage files and tables."""
