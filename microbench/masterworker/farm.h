/* A master and its workers: process 0 hands out units of work one by one, all others do them. */
#ifndef SK_MASTERWORKER_FARM_H
#define SK_MASTERWORKER_FARM_H

#include "base/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sk_collecting {
#define SK_COLLECTING(id, name, posts, function) SK_COLLECT_##id,
#include "masterworker/variants.def"
#undef SK_COLLECTING
    SK_COLLECTINGS
};

enum sk_handing {
#define SK_HANDING(id, name, function) SK_HAND_##id,
#include "masterworker/variants.def"
#undef SK_HANDING
    SK_HANDINGS
};

enum { SK_VARIANTS = SK_COLLECTINGS * SK_HANDINGS };

/* Returns the names of all variants: "Waitsome", "Waitsome_Ssend", ...; variant i collects by i / SK_HANDINGS and hands
 * out by i % SK_HANDINGS. */
const char *const *sk_variant_names(void);

/* Returns why a variant cannot be measured here; NULL if it can. */
const char *sk_variant_lacks(int variant);

/* What one launch farms out. The master has a slot for each worker; a worker uses slot 0. */
struct sk_farm {
    const struct sk_world *world;
    int variant, workers;
    size_t unit_bytes, result_bytes;
    int64_t n_units;   /* in a repetition, of all workers together */
    int64_t rounds;    /* of work for a unit */
    uint64_t seed;
    char *units, *results;
    int64_t *given;    /* of each worker: the number of its unit, -1 if it has none */
    MPI_Request *receives, *sends;
    int *found;        /* which workers' results were collected */
    char *buffer;      /* of MPI_Bsend */
};

/* What a repetition gave; on process 0, where the workers' times are summed over all of them. */
struct sk_harvest {
    int64_t t_ns;       /* from the first unit to the last result */
    int64_t collect_ns; /* of it inside the collecting calls */
    int64_t calls;      /* so many of these */
    int64_t busy_ns;    /* workers: from the arrival of a unit until its result is sent */
    int64_t worked_ns;  /* workers: the work itself */
    int64_t wrong;      /* units whose result was not right */
};

enum sk_look { SK_PLAIN, SK_WATCHED, SK_THOROUGH };

/* Every process must call these. `opens` takes memory, `closes` gives it back; all messages have come then. */
void sk_farm_open(struct sk_farm *farm);
void sk_farm_close(struct sk_farm *farm);

/* One repetition: all units are handed out, done and collected. Each result must answer the unit that its worker had.
 * PLAIN only times the whole; WATCHED reads the clock around every call, too; THOROUGH looks at every byte of units and
 * results, and is not to be timed. Every process must call it. */
struct sk_harvest sk_farm_run(struct sk_farm *farm, enum sk_look look);

/* Returns how long a collecting call lasts whose result has been there for long; 0 on the workers. Every process must
 * call it. */
int64_t sk_farm_ready(struct sk_farm *farm);

#endif
