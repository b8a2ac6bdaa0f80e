"""Spark campaign: what is too long for a test, on one machine with processes of a cluster."""
