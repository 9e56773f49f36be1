#include "trace/lock.h"

#include <pthread.h>

static bool is_locking;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void sk_lock_begin(bool is_needed)
{
    is_locking = is_needed;
}

void sk_lock(void)
{
    if (is_locking)
        pthread_mutex_lock(&mutex);
}

void sk_unlock(void)
{
    if (is_locking)
        pthread_mutex_unlock(&mutex);
}
