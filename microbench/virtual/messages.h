/* With SCALKIT_VIRTUAL_MESSAGES=FILE every message that leaves within a call by its MPI_ name (the harness of the
 * benchmarks calls PMPI_), and every such call, is a line of that file, times in ps; CALL counts those of a process:
 *     message CALL FUNCTION FROM TO BYTES SENT ARRIVAL
 *     call CALL FUNCTION RANK BEGIN END */
#ifndef SK_VIRTUAL_MESSAGES_H
#define SK_VIRTUAL_MESSAGES_H

#include "virtual/self.h"

void sk_messages_sent(int to, int64_t bytes, sk_ps sent, sk_ps arrival);
void sk_messages_call(sk_ps begin);

#endif
