/* Writes an OTF2 archive:   sk_otf2_write FOLDER NAME DEFINITIONS EVENTS...
 *
 * DEFINITIONS has a line for each: a letter, numbers, and a text to the end of the line, which has no line break.
 *   F facts            header of the trace, kept as a property
 *   T first length     of the clock, in ns
 *   S text             a string; strings have numbers from 0 on, in their order, as has every kind
 *   R name site kind   a region, site -1: not known; kind 1 if it is a function of MPI, 2 of another library
 *   G n member...      ranks of MPI; group 0 is that of all locations
 *   C name group       a communicator
 *   W name comm        a window
 *   L n                a location with so many events
 * EVENTS is a file for each location: rows of 7 int64, kind, time and 5 numbers, as `write_event` takes them. */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7, ROWS = 4096 };

/* scalkit/trace/files/otf2_events.py has the same */
enum event {
    ENTER, LEAVE, SEND, ISEND, ISEND_COMPLETE, IRECV_REQUEST, IRECV, RECV, COLLECTIVE_BEGIN, COLLECTIVE_END, PUT, GET,
    ACCUMULATE, FETCH, COMPLETE_BLOCKING, COMPLETE, RMA_BEGIN, RMA_END, GROUP_SYNC, LOCK, UNLOCK, SYNC, WIN_DESTROY,
    COMPLETE_REMOTE, COLLECTIVE_REQUEST, COLLECTIVE_COMPLETE
};

static void must(OTF2_ErrorCode status, const char *what)
{
    if (status != OTF2_SUCCESS) {
        fprintf(stderr, "sk_otf2_write: %s: %s.\n", what, OTF2_Error_GetDescription(status));
        exit(3);
    }
}

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool is_final)
{
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    return 0;
}

static OTF2_ErrorCode write_event(OTF2_EvtWriter *to, const int64_t *row)
{
    OTF2_TimeStamp time = (OTF2_TimeStamp)row[1];
    const int64_t *field = row + 2;
    uint32_t a = (uint32_t)field[0], b = (uint32_t)field[1], c = (uint32_t)field[2];
    uint64_t d = (uint64_t)field[3], e = (uint64_t)field[4];
    OTF2_RmaSyncLevel level = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
    switch ((enum event)row[0]) {
    case ENTER: return OTF2_EvtWriter_Enter(to, NULL, time, a);
    case LEAVE: return OTF2_EvtWriter_Leave(to, NULL, time, a);
    case SEND: return OTF2_EvtWriter_MpiSend(to, NULL, time, a, b, c, d);
    case ISEND: return OTF2_EvtWriter_MpiIsend(to, NULL, time, a, b, c, d, e);
    case ISEND_COMPLETE: return OTF2_EvtWriter_MpiIsendComplete(to, NULL, time, e);
    case IRECV_REQUEST: return OTF2_EvtWriter_MpiIrecvRequest(to, NULL, time, e);
    case IRECV: return OTF2_EvtWriter_MpiIrecv(to, NULL, time, a, b, c, d, e);
    case RECV: return OTF2_EvtWriter_MpiRecv(to, NULL, time, a, b, c, d);
    case COLLECTIVE_BEGIN: return OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, time);
    case COLLECTIVE_END: return OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, time, (OTF2_CollectiveOp)d, b, c, 0, 0);
    case PUT: return OTF2_EvtWriter_RmaPut(to, NULL, time, b, a, d, e);
    case GET: return OTF2_EvtWriter_RmaGet(to, NULL, time, b, a, d, e);
    case ACCUMULATE: return OTF2_EvtWriter_RmaAtomic(to, NULL, time, b, a, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, d, 0, e);
    case FETCH: return OTF2_EvtWriter_RmaAtomic(to, NULL, time, b, a, OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD, d, d, e);
    case COMPLETE_BLOCKING: return OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, time, b, e);
    case COMPLETE: return OTF2_EvtWriter_RmaOpCompleteNonBlocking(to, NULL, time, b, e);
    case RMA_BEGIN: return OTF2_EvtWriter_RmaCollectiveBegin(to, NULL, time);
    case RMA_END:
        return OTF2_EvtWriter_RmaCollectiveEnd(to, NULL, time, OTF2_COLLECTIVE_OP_BARRIER, level, b,
                                               OTF2_UNDEFINED_UINT32, 0, 0);
    case GROUP_SYNC: return OTF2_EvtWriter_RmaGroupSync(to, NULL, time, level, b, a);
    case LOCK:
        return OTF2_EvtWriter_RmaAcquireLock(to, NULL, time, b, a, 0, d ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
    case UNLOCK: return OTF2_EvtWriter_RmaReleaseLock(to, NULL, time, b, a, 0);
    case SYNC: return OTF2_EvtWriter_RmaSync(to, NULL, time, b, a, OTF2_RMA_SYNC_TYPE_MEMORY);
    case COMPLETE_REMOTE: return OTF2_EvtWriter_RmaOpCompleteRemote(to, NULL, time, b, e);
    case COLLECTIVE_REQUEST: return OTF2_EvtWriter_NonBlockingCollectiveRequest(to, NULL, time, e);
    case COLLECTIVE_COMPLETE:
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(to, NULL, time, (OTF2_CollectiveOp)d, b, c, 0, 0, e);
    case WIN_DESTROY: return OTF2_EvtWriter_RmaWinDestroy(to, NULL, time, b);
    }
    return OTF2_ERROR_INVALID_ARGUMENT;
}

static void write_location(OTF2_Archive *archive, uint64_t location, const char *path)
{
    static int64_t rows[ROWS * FIELDS];
    FILE *file = fopen(path, "rb");
    OTF2_EvtWriter *to = OTF2_Archive_GetEvtWriter(archive, location);
    if (!file || !to) {
        fprintf(stderr, "sk_otf2_write: %s cannot be read.\n", path);
        exit(3);
    }
    for (size_t n; (n = fread(rows, sizeof *rows * FIELDS, ROWS, file)) > 0;)
        for (size_t k = 0; k < n; k++)
            must(write_event(to, rows + k * FIELDS), "an event");
    fclose(file);
    must(OTF2_Archive_CloseEvtWriter(archive, to), "the events of a location");
}

static struct { uint32_t strings, regions, groups, comms, wins, locations; } numbers;

static void write_group(OTF2_GlobalDefWriter *to, char *words)
{
    uint32_t n = (uint32_t)strtoul(words, &words, 10);
    uint64_t *members = malloc(sizeof *members * (n + 1u));
    if (!members)
        exit(3);
    for (uint32_t k = 0; k < n; k++)
        members[k] = strtoull(words, &words, 10);
    OTF2_GroupType type = numbers.groups == 0 ? OTF2_GROUP_TYPE_COMM_LOCATIONS : OTF2_GROUP_TYPE_COMM_GROUP;
    must(OTF2_GlobalDefWriter_WriteGroup(to, numbers.groups++, 0, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n,
                                         members), "a group");
    free(members);
}

static void write_definition(OTF2_Archive *archive, OTF2_GlobalDefWriter *to, char *line)
{
    char *words = line + 2;
    int64_t first = line[0] == 'S' || line[0] == 'F' ? 0 : strtoll(words, &words, 10);
    int64_t second = line[0] == 'S' || line[0] == 'F' || line[0] == 'G' ? 0 : strtoll(words, &words, 10);
    uint32_t a = (uint32_t)first, b = (uint32_t)second;
    switch (line[0]) {
    case 'F': must(OTF2_Archive_SetProperty(archive, "SCALKIT::FACTS", words, true), "the facts"); break;
    case 'T':
        must(OTF2_GlobalDefWriter_WriteClockProperties(to, 1000000000, (uint64_t)first, (uint64_t)second,
                                                       OTF2_UNDEFINED_TIMESTAMP), "the clock");
        break;
    case 'S': must(OTF2_GlobalDefWriter_WriteString(to, numbers.strings++, words), "a string"); break;
    case 'R': {
        long kind = strtol(words, &words, 10);
        must(OTF2_GlobalDefWriter_WriteRegion(to, numbers.regions++, a, a, second < 0 ? 0 : 1,
                                              kind == 2 ? OTF2_REGION_ROLE_RMA : OTF2_REGION_ROLE_FUNCTION,
                                              kind == 1 ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                              OTF2_REGION_FLAG_NONE, second < 0 ? 0 : b, 0, 0), "a region");
        break;
    }
    case 'G': write_group(to, line + 2); break;
    case 'C':
        must(OTF2_GlobalDefWriter_WriteComm(to, numbers.comms++, a, b, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
             "a communicator");
        break;
    case 'W':
        must(OTF2_GlobalDefWriter_WriteRmaWin(to, numbers.wins++, a, b, OTF2_RMA_WIN_FLAG_NONE), "a window");
        break;
    case 'L': {
        uint32_t k = numbers.locations++;
        must(OTF2_GlobalDefWriter_WriteLocationGroup(to, k, 2, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP), "a process");
        must(OTF2_GlobalDefWriter_WriteLocation(to, k, 3, OTF2_LOCATION_TYPE_CPU_THREAD, (uint64_t)first, k),
             "a location");
        break;
    }
    default: fprintf(stderr, "sk_otf2_write: the definition '%.40s' is unknown.\n", line); exit(3);
    }
}

static void write_definitions(OTF2_Archive *archive, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *file = fopen(path, "r");
    OTF2_GlobalDefWriter *to = OTF2_Archive_GetGlobalDefWriter(archive);
    if (!file || !to) {
        fprintf(stderr, "sk_otf2_write: %s cannot be read.\n", path);
        exit(3);
    }
    while ((n = getline(&line, &room, file)) > 2) {
        line[n - 1] = '\0';
        write_definition(archive, to, line);
        if (line[0] == 'S' && numbers.strings == 4) /* machine and process have names now */
            must(OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, 3, 3, OTF2_UNDEFINED_SYSTEM_TREE_NODE), "the machine");
    }
    free(line);
    fclose(file);
    must(OTF2_Archive_CloseGlobalDefWriter(archive, to), "the definitions");
}

int main(int argc, char **argv)
{
    OTF2_FlushCallbacks on = { before_flush, after_flush };
    if (argc < 4) {
        fprintf(stderr, "usage: sk_otf2_write FOLDER NAME DEFINITIONS EVENTS...\n");
        return 2;
    }
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], argv[2], OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive) {
        fprintf(stderr, "sk_otf2_write: no archive can be made in %s.\n", argv[1]);
        return 3;
    }
    must(OTF2_Archive_SetFlushCallbacks(archive, &on, NULL), "flushing");
    must(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "one process");
    must(OTF2_Archive_SetCreator(archive, "scalkit trace convert"), "the creator");
    must(OTF2_Archive_OpenEvtFiles(archive), "the events");
    for (int k = 4; k < argc; k++)
        write_location(archive, (uint64_t)(k - 4), argv[k]);
    must(OTF2_Archive_CloseEvtFiles(archive), "the events");
    must(OTF2_Archive_OpenDefFiles(archive), "the definitions of locations");
    for (int k = 4; k < argc; k++)
        must(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, (uint64_t)(k - 4))), "a location");
    must(OTF2_Archive_CloseDefFiles(archive), "the definitions of locations");
    write_definitions(archive, argv[3]);
    must(OTF2_Archive_Close(archive), "the archive");
    return 0;
}
