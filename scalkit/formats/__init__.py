"""Files and tables of other programs: `read` makes Datasets of them with the `readers`, and `writers` write Datasets for them;
`experiments` reads the run files that guidelines are judged by."""
