"""Submissions: runs from another site, checked in a process that can do no harm."""
