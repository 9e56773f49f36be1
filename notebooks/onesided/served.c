#include "onesided/served.h"

#include "base/alloc.h"
#include "base/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct served { int64_t origin, number, time; } *list;
static size_t used, room;
static char path[4096];

void sk1s_served_begin(const char *folder, int rank)
{
    path[0] = '\0';
    if (folder)
        snprintf(path, sizeof path, "%s/%06d.served", folder, rank);
}

void sk1s_served(int origin, int64_t number, int64_t time)
{
    if (!path[0])
        return;
    if (used == room) {
        size_t more = room ? 2 * room : 256;
        list = sk_grow(list, room * sizeof *list, more * sizeof *list);
        room = more;
    }
    list[used++] = (struct served){ origin, number, time };
}

void sk1s_served_end(void)
{
    FILE *file = path[0] ? fopen(path, "w") : NULL;
    if (path[0] && !file)
        sk_say("cannot write %s: %s; name a folder that is there.", path, strerror(errno));
    for (size_t k = 0; file && k < used; k++)
        fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", list[k].origin, list[k].number, list[k].time);
    if (file && fclose(file) != 0)
        sk_say("cannot write %s: %s; make room.", path, strerror(errno));
    sk_free(list);
    list = NULL;
    used = room = 0;
}
