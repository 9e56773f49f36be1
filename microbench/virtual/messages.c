#include "virtual/messages.h"

#include "virtual/shared.h"

#include <stdio.h>
#include <stdlib.h>

/* NULL where they are not wanted. Whole lines are written at once, for all processes append to one file. */
static FILE *message_file(void)
{
    static FILE *file;
    static bool is_known;
    const char *path = getenv("SCALKIT_VIRTUAL_MESSAGES");
    if (!is_known && path && *path) {
        file = fopen(path, "a");
        if (!file)
            sk_over("the file of SCALKIT_VIRTUAL_MESSAGES cannot be written");
        setvbuf(file, NULL, _IOLBF, 0);
    }
    is_known = true;
    return sk_self.at->doing[0] == 'M' ? file : NULL;
}

void sk_messages_sent(int to, int64_t bytes, sk_ps sent, sk_ps arrival)
{
    FILE *file = message_file();
    if (file)
        fprintf(file, "message %d %s %d %d %lld %lld %lld\n", sk_self.calls, sk_self.at->doing, sk_self.rank, to,
                (long long)bytes, (long long)sent, (long long)arrival);
}

void sk_messages_call(sk_ps begin)
{
    FILE *file = message_file();
    if (file)
        fprintf(file, "call %d %s %d %lld %lld\n", sk_self.calls, sk_self.at->doing, sk_self.rank, (long long)begin,
                (long long)sk_self.at->clock);
}
