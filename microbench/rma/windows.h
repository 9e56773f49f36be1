/* The memory that one-sided operations work on: a window for each way to complete them, made before all timing. */
#ifndef SK_RMA_WINDOWS_H
#define SK_RMA_WINDOWS_H

#include "ops/data.h"

#include <stdbool.h>

enum sk_completion { SK_FLUSH, SK_FENCE, SK_PSCW, SK_LOCK, SK_COMPLETIONS };

/* The integers of 8 bytes that atomic operations work with on process 0. */
struct sk_words { int64_t own, expected, fetched; };

/* After an exchange: the next one expects what lies there now, so that it swaps, too. Where other operations on that
 * memory came between, one exchange finds it out and does not swap. */
void sk_words_follow(struct sk_words *words);

struct sk_windows {
    MPI_Win of[SK_COMPLETIONS]; /* of MPI_Win_allocate; a block of every process, at least 8 bytes */
    void *memory[SK_COMPLETIONS];
    MPI_Group origin, target;   /* process 0, process p - 1 */
    struct sk_words words;
};

/* Returns whether an operation with this flow is one-sided, and how it is completed, by its name in the run file. */
bool sk_flow_is_one_sided(enum sk_flow flow);
enum sk_completion sk_completion_of(const char *name);

/* Makes windows for the operands; errors of what is called on them are returned. Every process must call it. The
 * caller closes them before it frees the operands; nothing happens where there are none. */
void sk_windows_open(struct sk_operands *operands);
void sk_windows_close(struct sk_operands *operands);

/* Fills what an operation takes with known values, and where it leaves something with others; every process must call
 * it. */
void sk_windows_fill(const struct sk_operands *operands, enum sk_flow flow);

/* Returns how many elements on this process, in its windows and in its buffers, are not what one call after filling
 * must leave that was completed in this way. Every process must call it. */
size_t sk_windows_wrong(const struct sk_operands *operands, enum sk_flow flow, enum sk_completion completion);

#endif
