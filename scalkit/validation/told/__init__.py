"""How verdicts are told: sentences, what notebooks show, bands, and what continuous integration reads."""
