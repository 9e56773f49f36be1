"""What a trace is made of: definitions, tables and checks of locations, read and written, also as OTF2."""
