/* What is recorded is written when the program ends without MPI_Finalize: by exit, MPI_Abort, or a signal. */
#ifndef SK_TRACE_RESCUE_H
#define SK_TRACE_RESCUE_H

void sk_rescue_begin(void);
void sk_rescue(void); /* writes it now */

#endif
