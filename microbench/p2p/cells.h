/* What is to be measured, as text: "Round_trip:0,1,2/Strided:65536@1,2,4", kinds with sizes and their numbers. */
#ifndef SK_P2P_CELLS_H
#define SK_P2P_CELLS_H

#include "p2p/kinds.h"

#include <stddef.h>

struct sk_p2p_cell { enum sk_p2p_kind kind; int64_t size, detail; };

/* Returns how many cells the text has and writes the first `most` of them; -1 with the reason in `why` when it makes no
 * sense among p processes. */
int sk_p2p_cells_read(const char *text, int p, struct sk_p2p_cell *cells, int most, char *why, size_t room);

#endif
