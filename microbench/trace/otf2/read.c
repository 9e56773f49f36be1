/* Reads an OTF2 archive and writes a folder of location files:   sk_otf2_read ARCHIVE.otf2 FOLDER [keep-going]
 *
 * Prints, one a line, how many `locations` were read, `others` are no ranks of MPI, `events` were read, leaves were
 * `unmatched`, and what the locations are that are no processors, `other0` and so on; and `facts`, if the archive keeps
 * the header of a trace. */
#include "trace/otf2/defined.h"
#include "trace/otf2/events.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* Mapping tables and offsets of clocks; the library applies both to what it reads later. */
static void read_local_definitions(OTF2_Reader *reader, const uint64_t *locations, uint32_t n)
{
    bool are_there = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    for (uint32_t k = 0; k < n && are_there; k++) {
        uint64_t read;
        OTF2_DefReader *from = OTF2_Reader_GetDefReader(reader, locations[k]);
        if (from) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, from, &read);
            OTF2_Reader_CloseDefReader(reader, from);
        }
    }
    if (are_there)
        OTF2_Reader_CloseDefFiles(reader);
}

int main(int argc, char **argv)
{
    uint32_t n, rank;
    uint64_t events = 0;
    char *facts = NULL;
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: sk_otf2_read ARCHIVE.otf2 FOLDER [keep-going]\n");
        return 2;
    }
    OTF2_Reader *reader = OTF2_Reader_Open(argv[1]);
    if (!reader || OTF2_Reader_SetSerialCollectiveCallbacks(reader) != OTF2_SUCCESS || !sk_defined_read(reader)) {
        fprintf(stderr, "sk_otf2_read: %s is no OTF2 archive that can be read.\n", argv[1]);
        return 3;
    }
    const uint64_t *locations = sk_defined_ranks(&n);
    for (uint32_t k = 0; k < n; k++)
        OTF2_Reader_SelectLocation(reader, locations[k]);
    read_local_definitions(reader, locations, n);
    if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS) {
        fprintf(stderr, "sk_otf2_read: %s has no events.\n", argv[1]);
        return 3;
    }
    sk_events_begin();
    for (uint32_t k = 0; k < n; k++)
        events += sk_events_read(reader, locations[k], k, argv[2], argc == 4);
    OTF2_Reader_CloseEvtFiles(reader);
    uint64_t unmatched = sk_events_unmatched(&rank);
    printf("locations %u\nothers %u\nevents %" PRIu64 "\nunmatched %" PRIu64 "\n", n,
           sk_defined.n_threads + sk_defined.n_others - n, events, unmatched);
    if (unmatched > 0)
        printf("unmatched_at %" PRIu32 "\n", rank);
    if (OTF2_Reader_GetProperty(reader, "SCALKIT::FACTS", &facts) == OTF2_SUCCESS && facts)
        printf("facts %s\n", facts);
    OTF2_Reader_Close(reader);
    return 0;
}
