/* A function for each line of calls.def: it makes the call, or what takes its place. */
#define _GNU_SOURCE
#include "tune/scalkit_tune.h"

#include "substitutes.inc"

#define EXPORT __attribute__((visibility("default")))

enum {
#define SK_CALL(name, ...) CALL_##name,
#include "tune/calls.def"
#undef SK_CALL
    CALLS
};

static const char *const names[CALLS] = {
#define SK_CALL(name, ...) "MPI_" #name,
#include "tune/calls.def"
#undef SK_CALL
};

static const struct sk_substitute substitutes[] = {
#define SUBSTITUTE(call, use, run) { CALL_##call, use, (void (*)(void))(run) },
    SK_SUBSTITUTES(SUBSTITUTE)
};

static const struct sk_offer offer = { names, CALLS, substitutes, sizeof substitutes / sizeof *substitutes };

const struct sk_offer *sk_tune_offer(void)
{
    return &offer;
}

static long long processes(MPI_Comm comm)
{
    int p;
    PMPI_Comm_size(comm, &p);
    return p;
}

static void *at_root(int root, MPI_Comm comm, void *receive)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root ? receive : NULL;
}

static int sources(MPI_Comm comm)
{
    int in = 0, out;
    scalkit_degrees(comm, &in, &out);
    return in;
}

#define SK_CALL(name, declared, passed, count, type, blocks, place, n, kind, is_sum) \
    EXPORT int sk_##name declared __asm__("MPI_" #name); \
    int sk_##name declared \
    { \
        typedef int run_type declared; \
        struct sk_rule *rule = sk_tune_rule(CALL_##name, count, type, blocks, comm); \
        if (!rule || (sk_tune_checks && !sk_check_agreed(rule, count, comm))) \
            return PMPI_##name passed; \
        run_type *run = (run_type *)substitutes[rule->substitute].run; \
        if (!sk_tune_checks) \
            return run passed; \
        struct sk_result result; \
        sk_check_begin(&result, place, n, kind, is_sum); \
        int status = PMPI_##name passed; \
        sk_check_keep(&result); \
        if (status == MPI_SUCCESS) \
            run passed; \
        sk_check_end(&result, rule); \
        return status; \
    }
#include "tune/calls.def"
