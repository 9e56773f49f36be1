#define _POSIX_C_SOURCE 200809L
#include "base/record.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void sk_record_open(struct sk_record *record, const char *path, int rank)
{
    *record = (struct sk_record){.path = path, .rank = rank};
    errno = 0;
    if (rank == 0)
        record->file = fopen(path, "w");
    SK_REQUIRE(rank != 0 || record->file, "cannot open the run file '%s': %s; name a new file in a folder that exists "
               "and can be written to, --out FILE", path, strerror(errno));
}

static bool written(struct sk_record *record)
{
    const struct sk_json *json = &record->json;
    return fwrite(json->text, 1, json->length, record->file) == json->length && fputc('\n', record->file) != EOF &&
           fflush(record->file) == 0;
}

static void require_written(const struct sk_record *record, bool ok, int error)
{
    SK_REQUIRE(ok, "cannot write to the run file '%s': %s; the lines before remain readable, free some space or write "
               "to another disk, --out FILE", record->path, strerror(error));
}

void sk_record_write(struct sk_record *record)
{
    errno = 0;
    bool ok = record->rank != 0 || written(record);
    require_written(record, ok, errno);
    record->written++;
    sk_json_clear(&record->json);
}

/* Pipes and terminals cannot be synchronised with a disk: that is no error. */
static bool on_disk(FILE *file)
{
    return fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

void sk_record_close(struct sk_record *record)
{
    errno = 0;
    bool ok = true;
    if (record->rank == 0) {
        ok = on_disk(record->file);
        ok = fclose(record->file) == 0 && ok;
    }
    require_written(record, ok, errno);
    sk_json_free(&record->json);
}
