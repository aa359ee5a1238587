"""How Sphinx builds the documentation."""

from horsies_django import __version__

project = "horsies-django"
author = "The horsies_django authors"
copyright = f"2026, {author}"
release = version = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"horsies-django {__version__}"
exclude_patterns = ["_build"]
