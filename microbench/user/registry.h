/* The functions of a user that this program measures. */
#ifndef SK_USER_REGISTRY_H
#define SK_USER_REGISTRY_H

#include "user/scalkit.h"

typedef int (*sk_user_function)(struct sk_call *call);

struct sk_user {
    const char *name; /* in the run file */
    sk_user_function call, setup, teardown;  /* the last two may be NULL */
    long (*check)(struct sk_call *call);     /* may be NULL */
};

/* Adds a function; `user` must live as long as the program. Called before main, or before sk_functions_main. */
void sk_user_add(const struct sk_user *user);

/* Measures them all: sk_timing with its options. Every process must call it; returns the exit status. */
int sk_functions_main(int argc, char **argv);

#endif
