#define _GNU_SOURCE
#include "trace/profile/calls.h"

#include "base/json.h"
#include "trace/folder.h"
#include "trace/map.h"
#include "trace/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One row for each function, of all its places that found no room, and then one for each place. */
enum { PLACES = 4096, ROWS = SK_N_FUNCTIONS + PLACES, ORDER = 0x01020304 };

struct row { int64_t calls, ticks, least, most, bytes; };
struct moment { int64_t ticks, ns; };
struct head {
    char magic[8];
    uint32_t location, order;
    uint64_t rows, run;
    struct moment loaded, begun, last; /* the last has ticks only until the end */
    uint64_t is_complete;
    int64_t left_out; /* calls in pauses */
};
struct file { struct head head; struct row rows[ROWS]; };

bool sk_is_recording;
bool sk_counts_ticks;
SK_PER_THREAD bool sk_is_nested;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_locking, is_paused;
static struct sk_map numbers;
static struct file *kept;
static struct moment loaded;
static uint32_t used = SK_N_FUNCTIONS;
static int texts = -1; /* the file again: what the rows stand for, at its end */

static struct moment moment(void)
{
    return (struct moment){ sk_record_now(), sk_now() };
}

/* The kernel itself takes ticks for its clock where they are the same everywhere and all the time. */
__attribute__((constructor)) static void begin_ticks(void)
{
    char source[16] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        sk_counts_ticks = read(file, source, sizeof source - 1) == 4 && strcmp(source, "tsc\n") == 0;
        close(file);
    }
    loaded = moment();
}

static void tell_row(uint32_t row, uint32_t function, const void *site)
{
    struct sk_json line = { 0 };
    struct sk_site where;
    sk_symbols_find(site, &where);
    sk_json_begin(&line, NULL, '{');
    sk_json_uint(&line, "row", row);
    sk_json_text(&line, "function", sk_function_names[function]);
    if (where.text[0])
        sk_tell_site(&line, &where);
    sk_json_end(&line, '}');
    dprintf(texts, "%s\n", line.text);
    sk_json_free(&line);
}

/* Returns the row of a place: a new one, or that of all places of the function that find no room. */
static uint32_t row_of(uint32_t function, const void *site)
{
    uint64_t address = (uint64_t)(uintptr_t)site;
    const uint32_t *known = sk_map_find(&numbers, function, address);
    if (known)
        return *known;
    uint32_t row = used < ROWS ? used++ : function;
    sk_map_set(&numbers, function, address, row);
    if (row >= SK_N_FUNCTIONS || kept->rows[row].calls == 0)
        tell_row(row, function, row >= SK_N_FUNCTIONS ? site : NULL);
    return row;
}

static void add(const struct sk_call *call)
{
    struct sk_trace_place *place = call->place;
    if (place->site != call->site || place->parent == 0) {
        place->path = row_of(call->function, call->site);
        place->site = call->site;
        place->parent = 1; /* it is known */
    }
    if (is_paused) {
        kept->head.left_out++;
        return;
    }
    struct row *row = &kept->rows[place->path];
    int64_t ticks = call->leave - call->enter;
    row->ticks += ticks;
    row->bytes += call->bytes;
    if (row->calls == 0 || ticks < row->least)
        row->least = ticks;
    if (ticks > row->most)
        row->most = ticks;
    row->calls++;
    kept->head.last.ticks = call->leave;
}

void sk_profile_add(const struct sk_call *call)
{
    if (!is_locking) {
        add(call);
        return;
    }
    pthread_mutex_lock(&mutex);
    if (kept)
        add(call);
    pthread_mutex_unlock(&mutex);
}

static bool open_file(const char *folder, int location)
{
    char path[4096];
    void *memory = MAP_FAILED;
    snprintf(path, sizeof path, "%s/%06d.profile", folder, location);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int failed = file < 0 ? errno : posix_fallocate(file, 0, (off_t)sizeof *kept);
    if (!failed) {
        memory = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        failed = memory == MAP_FAILED ? errno : 0;
    }
    if (file >= 0)
        close(file);
    if (failed) {
        fprintf(stderr, "scalkit trace: cannot record to %s: %s; set SCALKIT_TRACE to a folder that can be written.\n",
                path, strerror(failed));
        return false;
    }
    kept = memory;
    texts = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return texts >= 0;
}

/* A child has the memory and the files of its parent, whose rows it must not touch. */
static void leave_child(void)
{
    sk_is_recording = false;
}

void sk_record_begin(int thread_level)
{
    char fine, folder[4000];
    int rank;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) /* spawned: its ranks are those of another world, whose files have these names */
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t run = sk_folder_begin(folder, sizeof folder, "profile", MPI_COMM_WORLD);
    fine = open_file(folder, rank);
    PMPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_CHAR, MPI_MIN, MPI_COMM_WORLD);
    is_locking = thread_level == MPI_THREAD_MULTIPLE;
    if (!fine)
        return;
    memset(kept, 0, sizeof *kept); /* its pages are there before they are timed */
    kept->head = (struct head){ "SKPROFI", (uint32_t)rank, ORDER, ROWS, run, loaded, moment(), { 0, 0 }, 0, 0 };
    kept->head.magic[7] = '1';
    pthread_atfork(NULL, NULL, leave_child);
    sk_is_recording = true;
}

void sk_record_begun(void)
{
    const char *given = getenv("SCALKIT_TRACE_PAUSED");
    is_paused = given && atoi(given);
}

void sk_record_pause(bool pause)
{
    is_paused = pause;
}

void sk_record_end(void)
{
    pthread_mutex_lock(&mutex);
    sk_is_recording = false;
    kept->head.last = moment();
    __atomic_store_n(&kept->head.is_complete, 1, __ATOMIC_RELEASE);
    munmap(kept, sizeof *kept);
    kept = NULL;
    close(texts);
    pthread_mutex_unlock(&mutex);
    sk_symbols_forget();
}
