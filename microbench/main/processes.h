/* When each process was done: the time of process 0 in each repetition, that of everybody in the first ones of a pass.
 *
 * A time lasts as the value of the repetition does: from the common start (dissemination: the latest entry; a process
 * that had left by then needed 0) to the end on that process. The largest is the value. Process 0 alone has them. */
#ifndef SK_MAIN_PROCESSES_H
#define SK_MAIN_PROCESSES_H

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

enum { SK_MOST_TIMES = 16384 }; /* of all processes, in a record; those of one repetition are kept in any case */

struct sk_processes {
    int size;                      /* processes; 0: nothing is kept */
    int64_t *root_ns;              /* of each repetition of this pass */
    int64_t *each_ns;              /* size values for each repetition that is kept, all passes */
    int n, kept, kept_before;      /* repetitions of this pass; kept of all passes; of those before */
    size_t root_room, each_room;   /* values that fit */
};

void sk_processes_free(struct sk_processes *processes);

/* Begins a pass. */
void sk_processes_begin(struct sk_processes *processes);

/* Adds a repetition: process k needed value_ns[k * stride]. Without `counts` it is in no median. */
void sk_processes_add(struct sk_processes *processes, const int64_t *value_ns, int stride, bool counts);

/* Appends root_ns and process_ns of this pass, and process_median_ns of all so far. */
void sk_processes_write(const struct sk_processes *processes, struct sk_json *json);

#endif
