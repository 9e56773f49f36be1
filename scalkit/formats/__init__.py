"""What judging does not read: `readers` make Datasets of files and tables of other programs, `writers` write Datasets for them,
and `experiments` reads the run files that guidelines are judged by."""
