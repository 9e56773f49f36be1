/* Global definitions of an OTF2 archive, as far as a trace needs them. */
#ifndef SK_TRACE_OTF2_DEFINED_H
#define SK_TRACE_OTF2_DEFINED_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_group { uint64_t *members; uint32_t n; uint8_t type, paradigm; bool is_known; };
/* Name and site are strings; site UINT32_MAX: not known. A function is one of a communication library, by its name, or
 * by its role; is_told if only the role says so. */
struct sk_region { uint32_t name, site; bool is_known, is_function, is_told; };
struct sk_comm { uint32_t group, name; bool is_known; };
struct sk_win { uint32_t comm, name; bool is_known; };

struct sk_defined {
    const char **strings;
    struct sk_region *regions;
    struct sk_group *groups;
    struct sk_comm *comms;
    struct sk_win *wins;
    uint64_t *threads; /* locations of processors, in order of their definition */
    uint64_t *n_events; /* of each of these, as it says */
    uint32_t n_strings, n_regions, n_groups, n_comms, n_wins, n_threads, n_others;
    uint64_t ticks, begin; /* of the clock: ticks a second, and the first one */
};

extern struct sk_defined sk_defined;

/* Reads them. Returns whether it could. */
bool sk_defined_read(OTF2_Reader *reader);

const char *sk_defined_text(uint32_t string); /* "" if it is not defined */

/* The locations that are ranks of MPI, in their order; those of all processors if the archive does not say. */
const uint64_t *sk_defined_ranks(uint32_t *n);

/* Whether a location is one of processors that says that it has events. */
bool sk_defined_has_events(uint64_t location);

/* Ranks of MPI of a communicator, NULL if it has none that are known. */
const struct sk_group *sk_defined_members(uint32_t comm);

#endif
