"""Files that somebody else sent: checked in a process that can do no harm."""
