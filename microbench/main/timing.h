/* The whole of a program that times operations: options, cells pass by pass, run file. */
#ifndef SK_MAIN_TIMING_H
#define SK_MAIN_TIMING_H

#include "catalogue/ops.h"

struct sk_suite {
    const char *name, *summary; /* of the program, for messages and the help text */
    const char *usual;          /* what is measured without --ops */
    const struct sk_op *ops;
    int n_ops;                  /* at most SK_MOST_OPS */
    void (*open)(const struct sk_operands *operands); /* before the first call; may be NULL, as may close */
    void (*close)(void);
};

/* Measures. Starts MPI and ends it, unless it runs already. Every process must call it; returns the exit status. Wrong
 * arguments end the program. */
int sk_timing(const struct sk_suite *suite, int argc, char **argv);

#endif
