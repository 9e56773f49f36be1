/* As much of ARMCI's header as the recorder needs, for the small library in parmci.c. */
#ifndef SK_TESTS_ARMCI_H
#define SK_TESTS_ARMCI_H

typedef long armci_size_t;
typedef struct { int unused; } armci_hdl_t;
typedef struct { void **src_ptr_array, **dst_ptr_array; int bytes, ptr_array_len; } armci_giov_t;

enum { ARMCI_FETCH_AND_ADD, ARMCI_FETCH_AND_ADD_LONG, ARMCI_SWAP, ARMCI_SWAP_LONG };
enum { ARMCI_ACC_DBL = 3 };

#define SK_ARMCI(type, name, parameters, arguments, rank, after) \
    type ARMCI_##name parameters; \
    type PARMCI_##name parameters;
#define SK_ARMCI_VOID(name, parameters, arguments, rank, after) \
    void ARMCI_##name parameters; \
    void PARMCI_##name parameters;
#include "trace/armci.def"
#undef SK_ARMCI
#undef SK_ARMCI_VOID

int armci_notify(int rank);
int armci_notify_wait(int rank, int *n);
int parmci_notify(int rank);
int parmci_notify_wait(int rank, int *n);

#endif
