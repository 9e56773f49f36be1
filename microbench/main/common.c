#include "main/common.h"

#include "base/check.h"

#include <stdlib.h>

static void help_and_leave(const struct sk_world *world, const struct sk_option *options, size_t n, const char *summary)
{
    if (world->rank == 0)
        sk_options_help(options, n, summary);
    SK_MPI(PMPI_Finalize());
    exit(SK_EXIT_OK);
}

void sk_common_options(const struct sk_world *world, const struct sk_common *common, const struct sk_option *options,
                       size_t n, const char *summary, int argc, char **argv)
{
    char why[SK_WHY] = "";
    bool help = false, ok = sk_options_read(options, n, argc, argv, &help, why, sizeof why);
    SK_REQUIRE(ok, "%s", why);
    int shows = help;
    SK_MPI(PMPI_Bcast(&shows, 1, MPI_INT, 0, world->harness));
    if (shows)
        help_and_leave(world, options, n, summary);
    sk_world_require_size(world, common->expect_np);
    SK_REQUIRE(common->out[0] != '\0', "--out is missing: name the run file to write, --out FILE");
}

void sk_common_end(struct sk_record *record, bool complete, double wall_s)
{
    struct sk_json *json = &record->json;
    if (record->rank != 0)
        return;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "end");
    sk_json_int(json, "records", record->written);
    sk_json_text(json, "status", complete ? "complete" : "budget");
    sk_json_real(json, "wall_s", wall_s);
}
