"""JSON documents as tables store them (chapter 33)."""
