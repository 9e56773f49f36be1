#include "base/check.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *program = "microbench";

void sk_program_name(const char *name)
{
    program = name;
}

const char *sk_program(void)
{
    return program;
}

static void say(const char *format, va_list arguments)
{
    char message[2048];
    vsnprintf(message, sizeof message, format, arguments);
    fprintf(stderr, "%s: %s\n", program, message);
    fflush(stderr);
}

void sk_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void sk_mpi_check(int status, const char *call, const char *file, int line)
{
    if (status == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, rank = -1;
    PMPI_Error_string(status, text, &length);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sk_say("process %d: %s:%d: %s failed: %s", rank, file, line, call, text);
    PMPI_Abort(MPI_COMM_WORLD, 1);
}

void sk_require(bool ok, const char *format, ...)
{
    int rank = 0, size = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    int refuses = ok ? size : rank, first = size;
    /* two trees are fewer messages than an allreduce, which counts where a simulator carries each of them */
    SK_MPI(PMPI_Reduce(&refuses, &first, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD));
    SK_MPI(PMPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (first == size)
        return;
    if (first == rank) {
        va_list arguments;
        va_start(arguments, format);
        say(format, arguments);
        va_end(arguments);
    }
    PMPI_Finalize();
    exit(SK_EXIT_INPUT);
}

_Noreturn void sk_assert_failed(const char *text, const char *file, int line)
{
    sk_say("%s:%d: this must hold and does not: %s", file, line, text);
    abort();
}
