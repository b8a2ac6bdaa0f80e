"""External manifest stores: who commits a version, decided outside of the object store."""
