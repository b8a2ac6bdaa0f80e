"""Hostile tables: every operation runs on tables that an attack has changed."""
