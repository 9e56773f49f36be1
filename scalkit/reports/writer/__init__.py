"""How a notebook becomes a page: its execution, the HTML and PDF, and the files put in place."""
