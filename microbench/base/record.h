/* The run file: one JSON object a line, written by process 0, flushed line by line. */
#ifndef SK_BASE_RECORD_H
#define SK_BASE_RECORD_H

#include "base/json.h"

#include <stdint.h>
#include <stdio.h>

struct sk_record {
    FILE *file;       /* process 0 only */
    const char *path;
    int rank;
    int64_t written;  /* records so far */
    struct sk_json json; /* the line that is being built; its memory is reused */
};

/* Every process must call these three; when process 0 cannot write, all leave with status 2 and one message. */
void sk_record_open(struct sk_record *record, const char *path, int rank);
void sk_record_write(struct sk_record *record); /* writes and clears record->json; other processes may leave it empty */
void sk_record_close(struct sk_record *record);

#endif
