"""The 0.1 file, called legacy: row groups of pages, a page table and page-level statistics."""
