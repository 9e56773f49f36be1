/* Clearing much memory by giving it back to the system: whoever reads it gets zeros, and it costs nothing until then.
 *
 * libfabric clears a pool of 64 MiB in MPI_Init and uses little of it; times the number of processes, that is most of
 * the time and of the memory of a start. */
#ifndef SK_VIRTUAL_ZERO_H
#define SK_VIRTUAL_ZERO_H

#include <stdbool.h>
#include <stddef.h>

enum { SK_ZERO_LEAST = 8 << 20 };

/* Gives the whole pages of a range back. False, and nothing done, where that would not clear them: memory of files, or
 * shared with others. `begin` and `end` are what was given back. */
bool sk_zero_pages(void *at, size_t bytes, char **begin, char **end);

#endif
