#define _GNU_SOURCE
#include "trace/rescue.h"

#include "trace/buffer.h"
#include "trace/record.h"

#ifdef SK_SIMULATED /* all processes are one, and the simulator ends it */

void sk_rescue_begin(void)
{
}

void sk_rescue(void)
{
    if (sk_is_recording)
        sk_buffer_rescue();
}

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_S = 5, STACK_BYTES = 1 << 16 };

/* The first ones say that the program is broken. The others ask it to end, and one that takes them itself lives on. */
static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGTERM, SIGINT, SIGHUP,
                               SIGQUIT, SIGPIPE, SIGXCPU, SIGUSR1, SIGUSR2 };
enum { FATAL = 7, SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[SIGNALS];
static pid_t own_process;
static volatile sig_atomic_t dying_of;
static char stack[STACK_BYTES]; /* where that of the program is full */

void sk_rescue(void)
{
    if (!sk_is_recording || getpid() != own_process) /* a child has a copy of all, but not its file */
        return;
    bool is_locked = sk_lock_soon();
    sk_buffer_rescue();
    if (is_locked)
        sk_unlock();
}

static void unblock(int signal_number, sigset_t *was)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &one, was);
}

/* Writing what names mean takes memory; where the program broke that, it must still come to its end. */
static void lose_patience(int signal_number)
{
    (void)signal_number;
    signal(dying_of, SIG_DFL);
    unblock(dying_of, NULL);
    raise(dying_of);
}

static void take(int signal_number)
{
    struct sigaction impatient = { .sa_handler = lose_patience }, own_alarm;
    struct itimerval patience = { .it_value = { PATIENCE_S, 0 } }, own_timer;
    sigset_t blocked;
    int error = errno;
    dying_of = signal_number;
    sigaction(SIGALRM, &impatient, &own_alarm);
    unblock(SIGALRM, &blocked);
    setitimer(ITIMER_REAL, &patience, &own_timer);
    sk_rescue();
    setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0, 0 } }, NULL);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    sigaction(SIGALRM, &own_alarm, NULL); /* a program that takes the signal itself may live on */
    setitimer(ITIMER_REAL, &own_timer, NULL);
    for (int k = 0; k < SIGNALS; k++)
        if (signals[k] == signal_number)
            sigaction(signal_number, &before[k], NULL);
    errno = error;
    raise(signal_number); /* it is blocked until this function returns; then what was there before takes it */
}

/* Returns SA_ONSTACK if the handlers of this thread shall have a stack of their own, 0 if the program has one. */
static int own_stack(void)
{
    stack_t now = { .ss_flags = 0 }, own = { .ss_sp = stack, .ss_size = sizeof stack };
    return sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE && sigaltstack(&own, NULL) == 0 ? SA_ONSTACK : 0;
}

void sk_rescue_begin(void)
{
    struct sigaction action = { .sa_handler = take, .sa_flags = own_stack() };
    sigfillset(&action.sa_mask);
    own_process = getpid();
    atexit(sk_rescue);
    for (int k = 0; k < SIGNALS; k++) {
        struct sigaction *old = &before[k];
        if (sigaction(signals[k], NULL, old) != 0 || old->sa_handler == SIG_IGN)
            continue;
        if (k < FATAL || old->sa_handler == SIG_DFL)
            sigaction(signals[k], &action, NULL);
    }
}

#endif
