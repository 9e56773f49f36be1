/* sk_function: the functions of C files, each of which user/glue.c adds. */
#include "user/registry.h"

int main(int argc, char **argv)
{
    return sk_functions_main(argc, argv);
}
