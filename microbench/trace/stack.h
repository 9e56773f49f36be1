/* The functions around a call, from the outermost on, as steps of its call path. */
#ifndef SK_TRACE_STACK_H
#define SK_TRACE_STACK_H

#include <stdbool.h>
#include <stdint.h>

extern bool sk_stack_is_on;

void sk_stack_begin(void); /* reads from the environment how stacks are to be found */

/* The call path of a function called at `site` in `parent`, with the functions on the stack between them: each is a
 * region, `solve()`. The site alone where they cannot be found. */
uint32_t sk_stack_path(uint32_t parent, uint32_t function, const void *site);

#endif
