/* One experiment in one launch: checked, then repeated. */
#ifndef SK_NBH_TRIAL_H
#define SK_NBH_TRIAL_H

#include "base/json.h"
#include "nbh/calls.h"
#include "time/load.h"
#include "time/pacer.h"
#include "time/sync.h"

enum { SK_REASON = 200 };

struct sk_trial {
    const struct sk_experiment *experiment;
    struct sk_plan plan;
    bool right, moved;     /* known on all processes; whether ranks were reordered */
    char why[SK_REASON];   /* what is wrong */
    int64_t *t_ns, *local_ns; /* process 0, in order of execution: common start to last end; longest local duration */
    unsigned char *late;
    int n;
    bool complete;         /* all repetitions are there */
};

/* Every process must call these. `pacer` goes from one trial to the next. Frees with sk_trial_free. */
struct sk_trial sk_trial_run(const struct sk_experiment *experiment, const struct sk_sync *sync,
                             struct sk_pacer *pacer, uint64_t seed, int64_t warmup, int64_t share_ns);
void sk_trial_free(struct sk_trial *trial);

/* Appends its record; process 0 only. `load` may be NaN: unknown. */
void sk_trial_write(const struct sk_trial *trial, struct sk_json *json, const struct sk_sync *sync,
                    const struct sk_disturbance *seen);

#endif
