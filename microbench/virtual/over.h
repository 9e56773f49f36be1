/* The end of a launch that cannot go on: a sentence on stderr, where every process stands, and status 9. */
#ifndef SK_VIRTUAL_OVER_H
#define SK_VIRTUAL_OVER_H

enum { SK_EXIT_OVER = 9 };

/* Does not return. Only the first process that calls it says anything. */
void sk_over(const char *why);

#endif
