"""Protocol: messages to an adapter, its process and folders, and its output within bounds."""
