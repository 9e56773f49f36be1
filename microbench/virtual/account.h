/* What a launch did, kept in the shared memory while it runs: calls of MPI by function, regions that the program
 * names. The
 * last process that leaves MPI_Finalize writes it as one JSON object to the file SCALKIT_VIRTUAL_OUT. */
#ifndef SK_VIRTUAL_ACCOUNT_H
#define SK_VIRTUAL_ACCOUNT_H

#include "virtual/shared.h"

/* A call by the first thread in virtual time. */
void sk_account_call(const char *function, sk_ps lasted);

/* Regions may be nested; NULL ends the innermost one. */
void sk_account_region(const char *name);

/* Called by each process when it has left MPI_Finalize. */
void sk_account_write(void);

#endif
