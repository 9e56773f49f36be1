/* What both programs do before and after their work: options, world, run file. */
#ifndef SK_MAIN_COMMON_H
#define SK_MAIN_COMMON_H

#include "base/env.h"
#include "base/options.h"
#include "base/record.h"
#include "base/world.h"

enum { SK_WHY = 4000 };

/* The table entries of the options that both programs have. */
#define SK_COMMON_OPTIONS(common)                                                                                      \
    {"out", "FILE", "run file to write", SK_OPTION_TEXT, &(common).out, 0},                                            \
    {"expect-np", "P", "end with status 3 unless there are P processes, 0: any", SK_OPTION_COUNT, &(common).expect_np, \
     0},                                                                                                               \
    {"seed", "N", "for every random choice", SK_OPTION_SEED, &(common).seed, 0},                                       \
    {"run-id", "TEXT", "name of this launch, kept in the file", SK_OPTION_TEXT, &(common).run_id, 0},                  \
    {"provenance", "FILE", "JSON object to keep in the file", SK_OPTION_TEXT, &(common).provenance, 0},                \
    {"ops", "A,B,C", "what to measure", SK_OPTION_TEXT, &(common).ops, 0},                                             \
    {"budget", "SECONDS", "for the whole launch", SK_OPTION_REAL, &(common).budget_s, 0}

/* Every process must call it after sk_world_open. Ends the program on --help (status 0), wrong arguments (2), a
 * missing --out (2) and another number of processes than --expect-np (3). */
void sk_common_options(const struct sk_world *world, const struct sk_common *common, const struct sk_option *options,
                       size_t n, const char *summary, int argc, char **argv);

/* Begins the last record of the file, {"rec":"end",...}, without the closing '}'; process 0 only does something. It
 * says how many records come before it, so that a reader notices when one is missing. */
void sk_common_end(struct sk_record *record, bool complete, double wall_s);

#endif
