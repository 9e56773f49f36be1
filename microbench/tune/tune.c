/* The rules of a program: read in MPI_Init, followed, and counted until MPI_Finalize. */
#define _GNU_SOURCE
#include "base/check.h"
#include "base/json.h"
#include "tune/scalkit_tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

const struct sk_offer *sk_tune_offer(void);

static struct sk_rules rules;
static atomic_llong *made; /* calls, by call */

struct sk_rule *sk_tune_rule(int call, long long count, MPI_Datatype type, int blocks, MPI_Comm comm)
{
    int p, size, is_inter;
    if (!made)
        return NULL;
    atomic_fetch_add_explicit(&made[call], 1, memory_order_relaxed);
    struct sk_rule *first = rules.first[call];
    if (!first || comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL)
        return NULL;
    PMPI_Comm_size(comm, &p);
    PMPI_Type_size(type, &size);
    first = sk_rules_find(first, p, (blocks ? p : 1) * count * size);
    if (!first)
        return NULL;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return NULL;
    atomic_fetch_add_explicit(&first->followed, 1, memory_order_relaxed);
    return first;
}

/* Reads the file on process 0; returns its text, "" where `why` says what is wrong. To be freed. */
static char *text_of(const char *path, char *why, int room)
{
    char *text = calloc(SK_MOST_RULES_BYTES + 1, 1);
    SK_ASSERT(text);
    FILE *in = fopen(path, "r");
    size_t n = in ? fread(text, 1, SK_MOST_RULES_BYTES + 1, in) : 0;
    if (!in || ferror(in))
        snprintf(why, (size_t)room, "%s", strerror(errno));
    else if (n > SK_MOST_RULES_BYTES || memchr(text, '\0', n))
        snprintf(why, (size_t)room, "it is %s", n > SK_MOST_RULES_BYTES ? "larger than 1 MiB" : "no text");
    if (in)
        fclose(in);
    if (*why)
        *text = '\0';
    text[SK_MOST_RULES_BYTES] = '\0';
    return text;
}

static void begin(void)
{
    const char *path = getenv("SCALKIT_TUNE"), *checks = getenv("SCALKIT_TUNE_CHECK");
    char why[512] = "";
    int rank, length = 0;
    sk_program_name("scalkit tune");
    if (!path || !*path)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *text = rank == 0 ? text_of(path, why, sizeof why) : NULL;
    length = text ? (int)strlen(text) : 0;
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!text)
        text = calloc((size_t)length + 1, 1);
    SK_ASSERT(text);
    PMPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    int is_right = !*why && sk_rules_read(&rules, sk_tune_offer(), text, why, sizeof why);
    free(text);
    SK_REQUIRE(is_right, "no rules can be read from %s: %s; name a file that 'scalkit guidelines --use' wrote.", path,
               why);
    made = calloc((size_t)sk_tune_offer()->calls, sizeof *made);
    SK_ASSERT(made);
    sk_tune_checks = checks && strcmp(checks, "1") == 0;
}

/* What was done, summed over all processes; `sums` holds the calls, then what each rule was followed and differed. */
static void write_account(const long long *sums, int processes, const char *path)
{
    const struct sk_offer *offer = sk_tune_offer();
    struct sk_json json = { 0 };
    sk_json_begin(&json, NULL, '{');
    sk_json_int(&json, "processes", processes);
    sk_json_begin(&json, "calls", '{');
    for (int i = 0; i < offer->calls; i++)
        if (sums[i])
            sk_json_int(&json, offer->names[i], sums[i]);
    sk_json_end(&json, '}');
    sk_json_bool(&json, "checked", sk_tune_checks);
    sk_json_begin(&json, "rules", '[');
    for (int i = 0; i < rules.n; i++) {
        const struct sk_rule *one = &rules.all[i];
        const int64_t p[] = { one->p_low, one->p_high }, bytes[] = { one->bytes_low, one->bytes_high };
        sk_json_begin(&json, NULL, '{');
        sk_json_text(&json, "call", offer->names[one->call]);
        sk_json_text(&json, "use", offer->substitutes[one->substitute].use);
        sk_json_ints(&json, "p", p, 2);
        sk_json_ints(&json, "bytes", bytes, 2);
        sk_json_int(&json, "followed", sums[offer->calls + 2 * i]);
        sk_json_int(&json, "different", sums[offer->calls + 2 * i + 1]);
        sk_json_end(&json, '}');
    }
    sk_json_end(&json, ']');
    sk_json_end(&json, '}');
    FILE *out = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
    if (!out || fprintf(out, "%s\n", json.text) < 0 || fflush(out) != 0)
        sk_say("cannot write %s: %s; name another file with SCALKIT_TUNE_OUT.", path, strerror(errno));
    if (out && out != stderr)
        fclose(out);
    sk_json_free(&json);
}

static void end(void)
{
    const char *path = getenv("SCALKIT_TUNE_OUT");
    int rank, processes, calls = sk_tune_offer()->calls, n = calls + 2 * rules.n;
    long long *mine = calloc(2 * (size_t)n, sizeof *mine);
    SK_ASSERT(mine);
    for (int i = 0; i < calls; i++)
        mine[i] = made[i];
    for (int i = 0; i < rules.n; i++) {
        mine[calls + 2 * i] = rules.all[i].followed;
        mine[calls + 2 * i + 1] = rules.all[i].different;
    }
    int is_told = path && *path;
    PMPI_Bcast(&is_told, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_told) {
        PMPI_Reduce(mine, mine + n, n, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &processes);
        if (rank == 0)
            write_account(mine + n, processes, path);
    }
    free(mine);
}

EXPORT int sk_Init(int *argc, char ***argv) __asm__("MPI_Init");
int sk_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    if (status == MPI_SUCCESS)
        begin();
    return status;
}

EXPORT int sk_Init_thread(int *argc, char ***argv, int required, int *provided) __asm__("MPI_Init_thread");
int sk_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = PMPI_Init_thread(argc, argv, required, provided);
    if (status == MPI_SUCCESS)
        begin();
    return status;
}

EXPORT int sk_Finalize(void) __asm__("MPI_Finalize");
int sk_Finalize(void)
{
    if (made)
        end();
    return PMPI_Finalize();
}
