"""Files and tables of other programs: `readers` make Datasets of them, `writers` write Datasets for them."""
