"""What takes the place of a call: its C, and the rules that a program follows at run time."""
