#include "ops/lacks.h"

#include "base/world.h"
#include "ops/mpi4.h"
#include "time/clock.h"

#include <mpi.h>
#include <string.h>

static const char NO_FUNCTION[] = "the simulator does not have this function";
static const char NO_TIME[] = "local calls take no time of their own in the simulator";

static bool begins(const char *op, const char *name)
{
    return strncmp(op, name, strlen(name)) == 0;
}

/* What cannot be had in virtual time, where processes share no memory and local calls take no time. */
static const char *lacks_virtually(const char *op)
{
    if (strstr(op, "[x1000]") || strcmp(op, "MPI_Reduce_local") == 0)
        return "local calls take no time of their own in virtual time";
#if defined(MPICH_VERSION) && !defined(I_MPI_VERSION)
    if (strcmp(op, "MPI_Dist_graph_create") == 0)
        return "in MPICH it never ends where the processes of a host share no memory";
#endif
    return NULL;
}

/* In MPICH 4.0.2 MPI_Gather_init moves nothing, and MPI_Allgather_init of 2 or 4 processes reads beyond its buffer. */
#if defined(MPICH_NUMVERSION) && !defined(I_MPI_VERSION) && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100000
#define HAS_WRONG_PERSISTENT 1
#else
#define HAS_WRONG_PERSISTENT 0
#endif

/* Calls of MPI 4, which a library of MPI 3 does not have, or in which an early library of MPI 4 is wrong. */
static const char *lacks_newer(const char *op)
{
    bool is_persistent_collective = begins(op, "MPI_") && strstr(op, "[persistent]");
    if (!SK_HAS_MPI_4 && is_persistent_collective)
        return "this MPI library has no persistent collectives, which came with MPI 4";
    if (HAS_WRONG_PERSISTENT && is_persistent_collective)
        return "persistent collectives of MPICH 4.0 give wrong results and read beyond their buffers";
    if (!SK_HAS_MPI_4 && strstr(op, "[partitioned]"))
        return "this MPI library has no partitioned messages, which came with MPI 4";
    return NULL;
}

const char *sk_lacks(const char *op)
{
    static const struct { const char *name, *why; } missing[] = {
#define SK_LACK(name, why) {name, why},
#include "ops/lacks.def"
#undef SK_LACK
    };
    for (size_t i = 0; SK_IS_SIMULATED && i < sizeof missing / sizeof *missing; i++)
        if (begins(op, missing[i].name))
            return missing[i].why;
    const char *newer = lacks_newer(op);
    if (newer)
        return newer;
    return !SK_IS_SIMULATED && sk_clock_is_virtual() ? lacks_virtually(op) : NULL;
}

void sk_lacks_write(struct sk_json *json, const char *op, const char *why)
{
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "skip");
    sk_json_text(json, "op", op);
    sk_json_text(json, "why", why);
    sk_json_end(json, '}');
}
