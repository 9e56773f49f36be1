/* Rows for fortran.awk, which reads what the preprocessor makes of this: the functions of the library's header. */
#include <mpi.h>
#define COUNT int
#define DISPL int
#define UNIT int
#define SK_CALL(name, parameters, arguments, before, after) SK_ROW name @ parameters @ before @ after @
#define SK_ONLY SK_CALL
#include "trace/mpi.def"
