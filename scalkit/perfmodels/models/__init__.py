"""The kinds of models: exact, bounded, asymptotic, composed, by ranges, of one message."""
