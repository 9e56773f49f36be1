/* Numbers of what stands in a trace, dense from 0 on: call paths, communicators and windows, groups. */
#ifndef SK_TRACE_DEFINE_H
#define SK_TRACE_DEFINE_H

#include "base/json.h"
#include "trace/functions.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

void sk_define_begin(int location, uint64_t run, const char *folder); /* once, before all others */
int sk_define_location(void);
uint32_t sk_define_number(void); /* of the next call or mark */
uint32_t sk_define_next_number(void); /* that the next call or mark will get */

bool sk_define_has_news(void);
void sk_define_tell(struct sk_json *to); /* what was defined since the last time */

/* The call path of a function, or region of the user, called at `site` (NULL: none) in `parent` (0: the program). */
uint32_t sk_define_path(uint32_t parent, uint32_t region, const void *site);
uint32_t sk_define_parent(uint32_t path);
uint32_t sk_define_function_of(uint32_t path); /* or region */
const char *sk_define_name(uint32_t region);
uint32_t sk_define_region(const char *name); /* of the user; the same for the same text */
uint32_t sk_define_function(const char *name); /* of a communication library other than MPI */

/* New communicators, and windows over one. All its processes must call it: they agree on a number with a broadcast. The
 * lock is held before and after, not meanwhile: another thread may have to make a communicator before others come here.
 * What comes of MPI_Comm_idup, and an intercommunicator, stays without one. */
void sk_define_comm(MPI_Comm comm);
void sk_define_win(MPI_Win win, MPI_Comm comm);
void sk_forget_comm(MPI_Comm comm);
void sk_forget_win(MPI_Win win);
enum { SK_WORLD = 0 }; /* number of MPI_COMM_WORLD, which is defined first */
int32_t sk_scope_of_comm(MPI_Comm comm); /* -1 if it has none */
int32_t sk_scope_of_win(MPI_Win win);
int32_t sk_define_group(MPI_Group group);
int32_t sk_define_sources(MPI_Comm comm); /* of the processes whose data an operation between neighbours gets */

#endif
