/* The folder of what one run of a program leaves, and its header. */
#ifndef SK_TRACE_FOLDER_H
#define SK_TRACE_FOLDER_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the folder of all processes, that of SCALKIT_TRACE or one within it, and writes its header, `what`.json, there.
 * Returns what tells the files of this run from those of others. Collective. */
uint64_t sk_folder_begin(char *folder, size_t bytes, const char *what, MPI_Comm comm);

#endif
