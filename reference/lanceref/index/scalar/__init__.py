"""Scalar indices: one module for each type."""
