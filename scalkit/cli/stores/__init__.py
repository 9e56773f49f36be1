"""Actions of `scalkit store`: pages that it shows, and statements that others check."""
