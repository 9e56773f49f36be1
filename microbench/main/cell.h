/* A cell: all repetitions of one operation in one launch, collected over several passes. */
#ifndef SK_MAIN_CELL_H
#define SK_MAIN_CELL_H

#include "base/json.h"
#include "main/processes.h"
#include "catalogue/ops.h"
#include "time/load.h"
#include "time/pacer.h"
#include "time/stop.h"
#include "time/sync.h"

struct sk_rules {
    int64_t least, most, warmup, passes; /* repetitions over all passes; warm-up calls of the first pass */
    double precision;
    double standard_error; /* of the mean, relative; 0: precision decides */
    struct sk_cut cut;     /* what the mean leaves out */
    bool auto_refined;     /* the launch belongs to a suite whose points are chosen by what was measured: only kept */
};

enum sk_status { SK_OPEN, SK_CONVERGED, SK_CAPPED, SK_OUT_OF_BUDGET };

enum { SK_BESIDE = 10 }; /* repetitions of the parts of an overlap, in each pass */

struct sk_cell {
    const struct sk_op *op;
    bool verified;         /* known on all processes; the rest on process 0 */
    int64_t first_ns;      /* duration of the very first call */
    int64_t *t_ns;         /* room for `most`, in order of execution, all passes */
    unsigned char *flags;  /* SK_LATE | SK_OVERRUN of each */
    int64_t *scratch;
    int n, pass_begin;     /* repetitions so far; at the begin of this pass */
    struct sk_pacer pacer;
    struct sk_summary summary;
    int64_t skew_sum_ns;   /* dissemination: sum over this pass of latest - first entry */
    enum sk_status status;
    int64_t work;          /* overlap: rounds of sk_work, known on all processes */
    int64_t pure_ns[SK_BESIDE], work_ns[SK_BESIDE]; /* overlap: call and wait, work, each alone; this pass */
    int n_pure, n_work;
    struct sk_processes processes; /* if the synchronisation gathers every process's end */
    int64_t *value_ns;             /* scratch: of one repetition, a value for each process */
};

enum { SK_LATE = 1, SK_OVERRUN = 2 };

struct sk_cell sk_cell_new(const struct sk_op *op, const struct sk_rules *rules, const struct sk_sync *sync);
void sk_cell_free(struct sk_cell *cell);

/* First call (timed for itself) and verification. Every process must call it. */
void sk_cell_first(struct sk_cell *cell, const struct sk_sync *sync, const struct sk_operands *operands);

/* One pass: of an overlap its parts alone; warm-up, then repetitions until the rule is met, the pass has its share of
 * them, or `share_ns` is used up.
 * Every process must call it; process 0's share counts. */
void sk_cell_pass(struct sk_cell *cell, const struct sk_sync *sync, struct sk_operands *operands,
                  const struct sk_rules *rules, int pass, int64_t share_ns);

/* Appends the record of the pass to `json`; process 0 only. `load` may be NaN: unknown. */
void sk_cell_write(const struct sk_cell *cell, struct sk_json *json, const struct sk_sync *sync,
                   const struct sk_operands *operands, const struct sk_rules *rules, int pass,
                   const struct sk_disturbance *seen);

#endif
