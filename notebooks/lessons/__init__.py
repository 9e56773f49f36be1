"""Tables, small campaigns and bundled data that the notebooks of the learning path show."""
