/* Adds the function of one C file to the program: -DSK_NAME=my_bcast -DSK_FILE="\"/path/my_bcast.c\"".
 *
 * The declarations come first, so that a function with another signature is an error of the compiler. */
#include "user/registry.h"

#define SK_JOIN_(a, b) a##b
#define SK_JOIN(a, b) SK_JOIN_(a, b)
#define SK_TEXT_(x) #x
#define SK_TEXT(x) SK_TEXT_(x)
#define SK_SETUP SK_JOIN(SK_NAME, _setup)
#define SK_CHECK SK_JOIN(SK_NAME, _check)
#define SK_TEARDOWN SK_JOIN(SK_NAME, _teardown)

int SK_NAME(struct sk_call *call);
int SK_SETUP(struct sk_call *call) __attribute__((weak));
long SK_CHECK(struct sk_call *call) __attribute__((weak));
int SK_TEARDOWN(struct sk_call *call) __attribute__((weak));

#include SK_FILE

__attribute__((constructor)) static void sk_add_this_function(void)
{
    static struct sk_user sk_this_function;
    sk_this_function = (struct sk_user){SK_TEXT(SK_NAME), SK_NAME, SK_SETUP, SK_TEARDOWN, SK_CHECK};
    sk_user_add(&sk_this_function);
}
