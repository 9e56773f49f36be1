/* For programs that have no C of their own, such as those in Fortran: compile this and link it. */
#define _GNU_SOURCE
#include "region.h"
