/* libscalkit_tune.so replaces calls of MPI by what was measured to be faster, at run time and in any program:
 *
 *     LD_PRELOAD=libscalkit_tune.so SCALKIT_TUNE=fast.rules mpiexec -n 16 ./prog
 *
 * `scalkit guidelines --use fast.json -- mpiexec -n 16 ./prog` builds it, writes rules, and says what was done.
 *
 *     SCALKIT_TUNE         file of rules; without it no call is replaced. Process 0 reads it in MPI_Init.
 *     SCALKIT_TUNE_OUT     file to which process 0 adds a line in MPI_Finalize: one JSON object, how often each rule
 *                          was followed and each call was made, all processes together; "-" is standard error.
 *     SCALKIT_TUNE_CHECK   1: each call that a rule replaces is made as well, and the results are compared. The program
 *                          gets those of the call itself. Where they differ, a sentence says so, once for each rule and
 *                          process. Sums of floating-point numbers may differ by rounding.
 *
 * A file of rules is text. The first line is "scalkit-rules 1", a line that begins with # is a remark, and every other
 * line is a rule: the call, its substitute, numbers of processes and bytes from and to, both included, as in
 *
 *     MPI_Bcast MPI_Scatter+MPI_Allgather 4 16 65536 1048576
 *
 * The processes are those of the communicator. The bytes are those of the whole vector, all processes together: what
 * MPI_Bcast sends, or p times what each process gives to MPI_Allgather; of a message to one neighbour in neighbourhood
 * collectives. The first rule that fits counts. A file that is not like this ends the program with one sentence and
 * status 2.
 *
 * All processes must come to the same rule: they must pass the same count and type, or at least as many bytes in as
 * many elements. Calls on intercommunicators, non-blocking and persistent calls, those with large
 * counts (_c), and those of the library itself stay as they are. What a substitute calls is not replaced again.
 */
#ifndef SCALKIT_TUNE_H
#define SCALKIT_TUNE_H

#include "tune/rules.h"

#include <mpi.h>

/* Returns the rule for a call, NULL if it stays as it is; counts the call. `blocks` is 1 where `count` elements are the
 * message of one process and p of them the vector, else 0. Any process, any thread. */
struct sk_rule *sk_tune_rule(int call, long long count, MPI_Datatype type, int blocks, MPI_Comm comm);

/* What of a call's result is compared, and with what; begins with sk_check_begin, ends with sk_check_end. */
struct sk_result {
    char *place;             /* first byte; NULL where this process receives nothing */
    long long bytes;         /* from there to the last one */
    char *before, *expected; /* what was there, and what the call itself delivers */
    MPI_Datatype type;
    int is_sum;
};

/* Whether results are checked, and all processes are at the same rule with the same count; every process of `comm` must
 * call it. Where they are not, a sentence says so, and the call is to be made as it is. */
int sk_check_agreed(struct sk_rule *rule, long long count, MPI_Comm comm);

/* Around the call itself (begin, keep) and its substitute (end); end leaves the result of the call itself. */
void sk_check_begin(struct sk_result *result, const void *place, long long count, MPI_Datatype type, int is_sum);
void sk_check_keep(struct sk_result *result);
void sk_check_end(struct sk_result *result, struct sk_rule *rule);

/* Whether SCALKIT_TUNE_CHECK asks for it. */
extern int sk_tune_checks;

#endif
