/* The first record of a run file: where, with what, and under which settings it was made. */
#ifndef SK_BASE_ENV_H
#define SK_BASE_ENV_H

#include "base/json.h"
#include "base/world.h"

#include <stdint.h>

struct sk_common { /* options of both programs */
    const char *out, *run_id, *provenance, *ops;
    int64_t expect_np;
    uint64_t seed;
    double budget_s;
};

/* Begins the record on process 0 (others: nothing happens); the caller may add fields and must close it with '}'. */
void sk_env_begin(struct sk_json *json, const struct sk_world *world, const struct sk_common *common, int argc,
                  char **argv);

/* Returns whether a variable's name says that it changes or describes MPI, and does not smell of a secret. */
bool sk_env_is_recorded(const char *name);

/* Reads a whole file; returns NULL with errno when that fails. The caller frees with sk_free. */
char *sk_env_read_file(const char *path);

/* Every process must call it; a provenance file that cannot be read or is no JSON object ends the program. Returns
 * its text on process 0 ("{}" without a file), to be freed with sk_free, NULL elsewhere. */
char *sk_env_provenance(const struct sk_world *world, const char *path);

#endif
