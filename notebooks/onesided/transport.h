/* One-sided communication as the programs here use it: over MPI's windows, or over the layer. All in bytes. */
#ifndef SK_ONESIDED_TRANSPORT_H
#define SK_ONESIDED_TRANSPORT_H

#include "onesided/layout.h"

#include <stdint.h>

struct sk_transport {
    const char *name;
    void *(*begin)(int64_t bytes, const char *truth); /* collective; returns the own memory, zeroed */
    void (*end)(void);                                /* collective */
    void (*barrier)(void);                            /* collective */

    /* Into, or from, consecutive bytes `local`; complete when they return. */
    void (*get)(int target, void *local, struct sk1s_layout there);
    void (*put)(int target, const void *local, struct sk1s_layout there);
    void (*accumulate)(int target, const void *local, struct sk1s_layout there); /* adds doubles */
    int64_t (*fetch_and_add)(int target, int64_t at, int64_t value);

    int (*nbget)(int target, void *local, struct sk1s_layout there); /* returns a number for wait */
    void (*wait)(int operation);
    void (*poll)(void); /* any call that lets the library work */
};

extern int64_t sk_completing; /* when the last call that completes a transfer began, on the clock of traces */

extern const struct sk_transport sk_over_rma, sk_over_locks, sk_over_layer;

/* Returns that of this name, or NULL. */
const struct sk_transport *sk_transport(const char *name);

#endif
