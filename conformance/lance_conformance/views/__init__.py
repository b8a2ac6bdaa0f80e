"""Views of what the reference found: text, JSON and HTML of explanations and findings."""
