/* Long options from a table: `--name=value` and `--name value`. */
#ifndef SK_BASE_OPTIONS_H
#define SK_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sk_option_kind { SK_OPTION_TEXT, SK_OPTION_COUNT, SK_OPTION_SEED, SK_OPTION_REAL };

struct sk_option {
    const char *name;         /* without the dashes */
    const char *value;        /* name of the value in the help text */
    const char *help;
    enum sk_option_kind kind; /* COUNT: int64_t >= least; SEED: uint64_t; REAL: double > least; TEXT: const char * */
    void *target;             /* holds the default before, the value after */
    int64_t least;
};

/* Reads the arguments into the targets. Returns true, or false with the reason in `why`; sets *help on --help.
 * Text values point into `argv`. Nothing is printed. */
bool sk_options_read(const struct sk_option *options, size_t n, int argc, char **argv, bool *help, char *why,
                     size_t room);

/* Prints the help text on standard output. */
void sk_options_help(const struct sk_option *options, size_t n, const char *summary);

/* Looks up the comma-separated words of `text` in `names`; writes their indices, without repetition, to `found`
 * (room for n). Returns how many, or -1 with the reason in `why`. */
int sk_options_choose(const char *option, const char *text, const char *const *names, int n, int *found, char *why,
                      size_t room);

#endif
