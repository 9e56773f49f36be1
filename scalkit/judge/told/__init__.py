"""How verdicts are told: sentences, what notebooks show, and bands."""
