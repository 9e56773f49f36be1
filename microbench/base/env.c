#define _GNU_SOURCE
#include "base/env.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/host.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

static bool begins_with_one_of(const char *name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

bool sk_env_is_recorded(const char *name)
{
    static const char *const prefixes[] = {
        "MPIR_", "MPICH_", "MPIEXEC_", "HYDRA_", "OMPI_", "PRTE_", "I_MPI_", "UCX_", "FI_", "SLURM_", "PMI_",
        "PMIX_MCA_", "MV2_", "OMP_NUM_THREADS", "SKFAULT"};
    static const char *const secrets[] = {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "COOKIE", "AUTH", "JWT"};
    char upper[128];
    size_t n = 0;
    for (; name[n] && n < sizeof upper - 1; n++)
        upper[n] = (char)toupper((unsigned char)name[n]);
    upper[n] = '\0';
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (strstr(upper, secrets[i]))
            return false;
    return begins_with_one_of(name, prefixes, sizeof prefixes / sizeof *prefixes);
}

static void write_environment(struct sk_json *json)
{
    sk_json_begin(json, "environment", '{');
    for (char **entry = environ; *entry; entry++) {
        char name[128];
        size_t n = strcspn(*entry, "=");
        if (n >= sizeof name)
            continue;
        memcpy(name, *entry, n);
        name[n] = '\0';
        if (sk_env_is_recorded(name))
            sk_json_text(json, name, *entry + n + ((*entry)[n] == '='));
    }
    sk_json_end(json, '}');
}

static void write_library(struct sk_json *json)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "", standard[32];
    int length = 0, version = 0, subversion = 0;
    SK_MPI(PMPI_Get_library_version(text, &length));
    SK_MPI(PMPI_Get_version(&version, &subversion));
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
        text[n - 1] = '\0';
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    sk_json_text(json, "mpi_library", text);
    sk_json_text(json, "mpi_standard", standard);
    sk_json_text(json, "compiler", __VERSION__);
}

static void write_places(struct sk_json *json, const struct sk_world *world)
{
    sk_json_begin(json, "hosts", '[');
    for (int i = 0; i < world->size; i++)
        sk_json_text(json, NULL, world->hosts + (size_t)i * SK_HOST_LENGTH);
    sk_json_end(json, ']');
    sk_json_int(json, "processes_per_node", world->processes_per_node);
    sk_json_begin(json, "cores_per_process", '[');
    for (int i = 0; i < 2; i++)
        sk_json_int(json, NULL, world->bound[i]);
    sk_json_end(json, ']');
    sk_json_bool(json, "oversubscribed", world->oversubscribed);
}

/* Without a name the launch gets that of the program and the number of processes: sk_time-p0008. */
static void write_run_id(struct sk_json *json, const struct sk_world *world, const char *run_id)
{
    char made[64];
    snprintf(made, sizeof made, "%s-p%04d", sk_program(), world->size);
    sk_json_text(json, "run_id", run_id[0] ? run_id : made);
}

void sk_env_begin(struct sk_json *json, const struct sk_world *world, const struct sk_common *common, int argc,
                  char **argv)
{
    if (world->rank != 0)
        return;
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "env");
    sk_json_int(json, "schema", 1);
    write_run_id(json, world, common->run_id);
    sk_json_text(json, "program", sk_program());
    sk_json_uint(json, "seed", common->seed);
    sk_json_begin(json, "argv", '[');
    for (int i = 0; i < argc; i++)
        sk_json_text(json, NULL, argv[i]);
    sk_json_end(json, ']');
    sk_json_int(json, "p", world->size);
    sk_host_write(json, world->hosts, world->cores);
    write_library(json);
    write_places(json, world);
    sk_json_bool(json, "simulated", SK_IS_SIMULATED);
    write_environment(json);
}

char *sk_env_read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    size_t room = 4096, length = 0;
    char *text = sk_alloc(room);
    while ((length += fread(text + length, 1, room - 1 - length, file)) == room - 1) {
        text = sk_grow(text, room, 2 * room);
        room *= 2;
    }
    bool ok = !ferror(file);
    fclose(file);
    if (ok)
        return text;
    sk_free(text);
    return NULL;
}

char *sk_env_provenance(const struct sk_world *world, const char *path)
{
    bool named = path[0] != '\0', reads = world->rank == 0 && named;
    errno = 0;
    char *text = reads ? sk_env_read_file(path) : NULL;
    SK_REQUIRE(!reads || text, "cannot read the provenance file '%s': %s; --provenance takes a file that holds a JSON "
               "object", path, strerror(errno));
    SK_REQUIRE(!reads || sk_json_is_object(text), "the provenance file '%s' does not hold one JSON object; "
               "--provenance takes a file like {\"scalkit\": \"0.1.0\"}", path);
    if (world->rank == 0 && !named) {
        text = sk_alloc(3);
        memcpy(text, "{}", 3);
    }
    return text;
}
