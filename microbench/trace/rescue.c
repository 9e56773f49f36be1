#define _GNU_SOURCE
#include "trace/rescue.h"

#ifdef SK_SIMULATED /* all processes are one, and the simulator ends it */

void sk_rescue_begin(void)
{
}

#else

#include "trace/buffer.h"
#include "trace/record.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 5 };

static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT, SIGHUP };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction before[SIGNALS];
static pid_t own_process;
static volatile sig_atomic_t dying_of;

static void rescue(void)
{
    if (sk_is_recording && getpid() == own_process) /* a child has a copy of all, but not its file */
        sk_buffer_rescue();
}

/* Writing what names mean takes memory; where the program broke that, it must still come to its end. */
static void lose_patience(int signal_number)
{
    (void)signal_number;
    signal(dying_of, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, dying_of);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(dying_of);
}

static void take(int signal_number)
{
    struct sigaction impatient = { .sa_handler = lose_patience };
    sigset_t one;
    dying_of = signal_number;
    sigaction(SIGALRM, &impatient, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    alarm(PATIENCE_S);
    rescue();
    alarm(0);
    for (int k = 0; k < SIGNALS; k++)
        if (signals[k] == signal_number)
            sigaction(signal_number, &before[k], NULL);
    raise(signal_number); /* it is blocked until this function returns; then what was there before takes it */
}

void sk_rescue_begin(void)
{
    struct sigaction action = { .sa_handler = take };
    sigfillset(&action.sa_mask);
    own_process = getpid();
    atexit(rescue);
    for (int k = 0; k < SIGNALS; k++) {
        struct sigaction *old = &before[k];
        bool is_fatal = signals[k] != SIGTERM && signals[k] != SIGINT && signals[k] != SIGHUP;
        if (sigaction(signals[k], NULL, old) != 0 || old->sa_handler == SIG_IGN)
            continue;
        if (is_fatal || old->sa_handler == SIG_DFL) /* a program that takes the others lives on */
            sigaction(signals[k], &action, NULL);
    }
}

#endif
