"""Numeric kernels of vector indices: distances, quantizers, clusters and graphs."""
