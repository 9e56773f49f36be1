"""Contents of reports, one module for each kind; each opens its inputs and has a title, an answer and an exit status."""
