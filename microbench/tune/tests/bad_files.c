/* Texts that are no rules: each is refused with the sentence that names what is wrong; right ones are found again. */
#include "tune/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "MPI_Bcast", "MPI_Gather" };
static const struct sk_substitute substitutes[] = { { 0, "MPI_Scatter+MPI_Allgather", NULL },
                                                    { 1, "MPI_Gatherv", NULL } };
static const struct sk_offer offer = { names, 2, substitutes, 2 };
static int wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        printf("wrong: %s\n", what);
        wrong = 1;
    }
}

static void refused(const char *text, const char *sentence)
{
    char why[512] = "";
    struct sk_rules rules;
    expect(!sk_rules_read(&rules, &offer, text, why, sizeof why) && strstr(why, sentence) != NULL, text);
    if (!strstr(why, sentence))
        printf("  it said: %s\n", why);
    sk_rules_free(&rules);
}

static void found(void)
{
    char why[512] = "";
    struct sk_rules rules;
    const char *text = "scalkit-rules 1\n# remark\n\nMPI_Gather MPI_Gatherv 2 4 10 20\n"
                       "MPI_Gather MPI_Gatherv 2 8 15 90";
    expect(sk_rules_read(&rules, &offer, text, why, sizeof why) && rules.n == 2, text);
    expect(sk_rules_find(rules.first[0], 2, 15) == NULL, "no rule for a broadcast");
    expect(sk_rules_find(rules.first[1], 2, 10) == &rules.all[0], "the lower end belongs to it");
    expect(sk_rules_find(rules.first[1], 4, 20) == &rules.all[0], "the upper end belongs to it, the first rule counts");
    expect(sk_rules_find(rules.first[1], 5, 20) == &rules.all[1], "the second where the first does not fit");
    expect(sk_rules_find(rules.first[1], 9, 20) == NULL && sk_rules_find(rules.first[1], 2, 91) == NULL, "beyond both");
    sk_rules_free(&rules);
}

/* Every beginning of a file, and every file with one other byte, is read or refused, never anything else. */
static void damaged(void)
{
    const char *text = "scalkit-rules 1\nMPI_Bcast MPI_Scatter+MPI_Allgather 4 16 65536 1048576\n";
    size_t n = strlen(text);
    char why[512], *copy = malloc(n + 1);
    for (size_t i = 0; copy && i < n; i++)
        for (int byte = 0; byte < 256; byte++) {
            struct sk_rules rules;
            memcpy(copy, text, n + 1);
            copy[i] = (char)byte;
            sk_rules_read(&rules, &offer, copy, why, sizeof why);
            sk_rules_free(&rules);
        }
    free(copy);
}

int main(void)
{
    refused("", "its first line is not 'scalkit-rules 1'");
    refused("{\"format\": \"scalkit-profile\"}", "its first line is not");
    refused("scalkit-rules 2\n", "its first line is not");
    refused("scalkit-rules 1\nMPI_Bcst MPI_Gatherv 1 2 3 4\n", "line 2: 'MPI_Bcst' is no call that can be replaced");
    refused("scalkit-rules 1\n\nMPI_Bcast MPI_Gatherv 1 2 3 4\n", "line 3: 'MPI_Gatherv' is no known substitute");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 1 2 3\n", "line 2: a rule is a call, its substitute and four");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 1 2 3 4 5\n", "line 2: a rule is a call");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 1 2 3 99999999999999999999\n", "line 2: a rule is a call");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 4 2 3 4\n", "line 2: processes and bytes are two ranges");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 2 4 9 4\n", "line 2: processes and bytes are two ranges");
    refused("scalkit-rules 1\nMPI_Gather MPI_Gatherv 0 4 3 4\n", "line 2: processes and bytes are two ranges");
    char *text = calloc(200001, 1);
    if (!text)
        return 1;
    strcpy(text, "scalkit-rules 1\n");
    memset(text + 16, 'x', 400);
    refused(text, "line 2 is longer than 255 characters");
    text[16] = '\0';
    for (int i = 0; i <= SK_MOST_RULES; i++)
        strcpy(text + 16 + 33 * i, "MPI_Gather MPI_Gatherv 2 4 10 20\n");
    refused(text, "line 4098: more than 4096 rules");
    free(text);
    found();
    damaged();
    return wrong;
}
