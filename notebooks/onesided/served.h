/* The truth about waiting: when each request was really taken up. */
#ifndef SK_ONESIDED_SERVED_H
#define SK_ONESIDED_SERVED_H

#include <stdint.h>

/* From now on kept in memory; `folder` (NULL: keep nothing) is there. */
void sk1s_served_begin(const char *folder, int rank);

/* `number` is that of the call that posted it, `time` on the clock of the trace. */
void sk1s_served(int origin, int64_t number, int64_t time);

/* Writes FOLDER/000003.served for rank 3: a line "origin number ns" for each request, in the order of serving. */
void sk1s_served_end(void);

#endif
