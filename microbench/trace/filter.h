/* What is left out of a trace on demand, and how much that is.
 *
 * A call that is left out has a number all the same, by which what belongs to it is left out, too: SK_LEFT_OUT, and in
 * a pause the number of the next call that is recorded, which says where in the order of messages and collective
 * operations those that are missing were. docs/file-formats.md describes what is written of them. */
#ifndef SK_TRACE_FILTER_H
#define SK_TRACE_FILTER_H

#include "base/json.h"
#include "trace/buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define SK_LEFT_OUT UINT32_C(0x80000000)

extern bool sk_filter_is_on; /* something may be left out */

void sk_filter_begin(void); /* reads what the user wants from the environment */
void sk_filter_pause(bool is_paused);
void sk_filter_enter(const char *region);
void sk_filter_leave(void);

uint32_t sk_filter_number(uint32_t function); /* of a call that begins and is left out; 0 if it is recorded */
void sk_filter_left(uint32_t function, const struct sk_call *call); /* such a call ended: counts it */
bool sk_filter_is_short(uint32_t function, const struct sk_call *call); /* a short poll, which is left out: counts it */
bool sk_filter_transfer(const struct sk_transfer *transfer); /* whether it is left out: counts it */
bool sk_filter_completion(uint32_t call, uint32_t posted);

bool sk_filter_has_news(void);
void sk_filter_tell(struct sk_json *to); /* what was counted since the last time */

#endif
