#define _GNU_SOURCE
#include "trace/folder.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct run { uint64_t id; int64_t folder; };

/* Writes the folder of this program: the one that is asked for, or one within it, DIR/2, if that has one. */
static void name_folder(char *folder, size_t bytes, int64_t number)
{
    const char *named = getenv("SCALKIT_TRACE");
    int length = snprintf(folder, bytes, "%s", named && *named ? named : "scalkit-trace");
    if (number > 1 && (size_t)length < bytes)
        snprintf(folder + length, bytes - (size_t)length, "/%d", (int)number);
}

/* Makes the header, which no other program did: of several, each gets a folder of its own. NULL if it cannot. */
static FILE *claim(char *folder, size_t bytes, const char *what, struct run *run)
{
    char path[4096];
    for (run->folder = 1;; run->folder++) {
        name_folder(folder, bytes, run->folder);
        mkdir(folder, 0777);
        snprintf(path, sizeof path, "%s/%s.json", folder, what);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0)
            return fdopen(file, "w");
        if (errno != EEXIST)
            break;
    }
    fprintf(stderr, "scalkit trace: cannot write %s: %s; set SCALKIT_TRACE to a folder.\n", path, strerror(errno));
    return NULL;
}

static void write_header(FILE *file, const char *what, const struct run *run, int n_ranks)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", id[17], format[40];
    const char *progress = getenv("MPIR_CVAR_ASYNC_PROGRESS");
    struct sk_json head = { 0 };
    int length;
    snprintf(format, sizeof format, "scalkit %s", what);
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, "\r\n")] = '\0';
    snprintf(id, sizeof id, "%016llx", (unsigned long long)run->id);
    sk_json_begin(&head, NULL, '{');
    sk_json_text(&head, "format", format);
    sk_json_int(&head, "schema", 1);
    sk_json_int(&head, "locations", n_ranks);
#ifdef SK_SIMULATED
    sk_json_bool(&head, "simulated", true);
    sk_json_text(&head, "clock", "simulated time");
#else
    sk_json_bool(&head, "simulated", false);
    sk_json_text(&head, "clock", "CLOCK_MONOTONIC");
#endif
    sk_json_bool(&head, "asynchronous_progress", progress && strcmp(progress, "1") == 0);
    sk_json_text(&head, "library", library);
    sk_json_text(&head, "program", program_invocation_short_name);
    sk_json_text(&head, "run", id);
    sk_json_end(&head, '}');
    fprintf(file, "%s\n", head.text);
    fclose(file);
    sk_json_free(&head);
}

uint64_t sk_folder_begin(char *folder, size_t bytes, const char *what, MPI_Comm comm)
{
    struct run run = { 0, 1 };
    int rank, n_ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &n_ranks);
    if (rank == 0) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        run.id = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) * UINT64_C(0x9E3779B97F4A7C15)
                 + (uint64_t)getpid();
        FILE *file = claim(folder, bytes, what, &run);
        if (file)
            write_header(file, what, &run, n_ranks);
        if (run.folder > 1)
            fprintf(stderr,
                    "scalkit trace: there is a %s of another program already; this one goes to %s.\n", what, folder);
    }
    PMPI_Bcast(&run, sizeof run, MPI_BYTE, 0, comm); /* the folder is there */
    name_folder(folder, bytes, run.folder);
    return run.id;
}
