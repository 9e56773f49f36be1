/* The events of a location of an OTF2 archive become the file of a location of a trace.
 *
 * Calls are regions whose names begin as those of communication libraries do, and regions in them; others become marks.
 * What an event says of the call around it, its communicator, root, target, goes to the record of the call. */
#ifndef SK_TRACE_OTF2_EVENTS_H
#define SK_TRACE_OTF2_EVENTS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

void sk_events_begin(void); /* once the global definitions are read */

/* Reads the events of a location, which is a rank of MPI, and writes its file; returns how many there were. Where they
 * cannot be read it says so and ends; to keep going, the file has no end, or is not there if no event was. */
uint64_t sk_events_read(OTF2_Reader *reader, uint64_t location, uint32_t rank, const char *folder, bool keep_going);

/* Returns how many leaves of regions were not of the innermost one, so far; `rank` is whose the first was. */
uint64_t sk_events_unmatched(uint32_t *rank);

#endif
