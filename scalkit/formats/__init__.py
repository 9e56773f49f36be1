"""What judging does not read: `readers` make Datasets of files and tables of other programs, `writers` write Datasets for them,
`experiments` reads the run files that guidelines are judged by, and `ci` writes what continuous integration reads."""
