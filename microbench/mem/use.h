/* Makes an MPI library allocate what it allocates on first use. */
#ifndef SK_MEM_USE_H
#define SK_MEM_USE_H

#include "base/world.h"

/* Every process must call it: every operation of sk_time's group "paper" once with 8 bytes, and a message between every
 * pair. */
void sk_use_everything(const struct sk_world *world);

#endif
