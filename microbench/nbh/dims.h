/* Balanced grids by a definition that does not depend on the MPI library: d1 >= ... >= dn with product p, the smallest
 * d1 - dn, then the smallest sum, then lexicographically smallest (Traeff and Luebbe 2015: TUW_Dims_create). */
#ifndef SK_NBH_DIMS_H
#define SK_NBH_DIMS_H

enum { SK_MOST_DIMS = 16 };

/* Writes the grid of `p` >= 1 processes in 1 <= n <= SK_MOST_DIMS dimensions to `dims`. */
void sk_balanced_dims(int p, int n, int *dims);

#endif
