#define _POSIX_C_SOURCE 200809L
#include "mem/smaps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const sk_smaps_names[SK_SMAPS_FIELDS] = {"pss",     "pss_anon", "pss_shmem", "pss_dirty",
                                                     "private", "rss",      "hwm"};

static int field_of(const char *line, size_t n)
{
    static const struct { const char *name; int field; } fields[] = {
        {"Pss", SK_PSS}, {"Pss_Anon", SK_PSS_ANON}, {"Pss_Shmem", SK_PSS_SHMEM}, {"Pss_Dirty", SK_PSS_DIRTY},
        {"Private_Clean", SK_PRIVATE}, {"Private_Dirty", SK_PRIVATE}, {"Rss", SK_RSS}, {"VmHWM", SK_HWM}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == n && strncmp(line, fields[i].name, n) == 0)
            return fields[i].field;
    return -1;
}

void sk_smaps_line(struct sk_smaps *smaps, const char *line)
{
    size_t n = strcspn(line, ":");
    int field = line[n] == ':' ? field_of(line, n) : -1;
    if (field < 0)
        return;
    char *end = NULL;
    long long kilobytes = strtoll(line + n + 1, &end, 10);
    if (end == line + n + 1 || strncmp(end, " kB", 3) != 0)
        return;
    if (smaps->bytes[field] < 0)
        smaps->bytes[field] = 0;
    smaps->bytes[field] += kilobytes * 1024;
}

/* Hands every line but the unfinished last one over; returns how many bytes remain at the front of `text`. */
static size_t take_lines(struct sk_smaps *smaps, char *text, size_t length)
{
    char *begin = text, *end;
    while ((end = memchr(begin, '\n', length - (size_t)(begin - text)))) {
        *end = '\0';
        sk_smaps_line(smaps, begin);
        begin = end + 1;
    }
    size_t rest = length - (size_t)(begin - text);
    memmove(text, begin, rest);
    return rest;
}

bool sk_smaps_file(struct sk_smaps *smaps, const char *path)
{
    static char text[16384];
    int file = open(path, O_RDONLY);
    if (file < 0)
        return false;
    size_t length = 0;
    ssize_t n;
    while ((n = read(file, text + length, sizeof text - 1 - length)) > 0) {
        length = take_lines(smaps, text, length + (size_t)n);
        if (length == sizeof text - 1) /* a line that long is no number: a mapping's name */
            length = 0;
    }
    text[length] = '\0';
    sk_smaps_line(smaps, text);
    close(file);
    return true;
}

struct sk_smaps sk_smaps_now(void)
{
    struct sk_smaps smaps;
    for (int i = 0; i < SK_SMAPS_FIELDS; i++)
        smaps.bytes[i] = -1;
    if (!sk_smaps_file(&smaps, "/proc/self/smaps_rollup"))
        sk_smaps_file(&smaps, "/proc/self/smaps");
    sk_smaps_file(&smaps, "/proc/self/status");
    return smaps;
}

struct sk_smaps sk_smaps_settled(void)
{
    const struct timespec pause = {0, 20000000};
    struct sk_smaps now = sk_smaps_now();
    for (int equal = 0, i = 0; equal < 10 && i < 150; i++) {
        int64_t before = now.bytes[SK_PSS];
        nanosleep(&pause, NULL);
        now = sk_smaps_now();
        equal = now.bytes[SK_PSS] == before ? equal + 1 : 0;
    }
    return now;
}
