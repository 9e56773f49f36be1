"""Which operation or substitute to choose: from measurements to a choice, in words and as C."""
