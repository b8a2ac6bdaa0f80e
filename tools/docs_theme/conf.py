"""Settings of the site."""

project = "Lance format conformance"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "Lance format conformance"
html_show_sphinx = False
html_copy_source = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_show_copyright = False
highlight_language = "none"
