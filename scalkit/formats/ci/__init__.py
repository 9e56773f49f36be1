"""A validation as continuous integration reads it: JUnit XML, and annotations at the lines of a file."""
