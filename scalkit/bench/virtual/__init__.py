"""Virtual time: the machine as numbers, a library above the layer that owns the clock, and any program in it."""
