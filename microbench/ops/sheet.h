/* Blocks of memory with one repeating content, without pages of their own: each block maps a part of one sheet, a file
 * in memory. Blocks begin on a page and are whole pages long; what is written into a block is seen in that block only.
 */
#ifndef SK_OPS_SHEET_H
#define SK_OPS_SHEET_H

#include <stddef.h>

size_t sk_sheet_page(void); /* bytes of a page */

/* Room for blocks, zero, of `bytes` whole pages; takes no memory until it is written to. Freed with its bytes. */
void *sk_sheet_room(size_t bytes);
void sk_sheet_room_free(void *room, size_t bytes);

/* Returns the file of a sheet of `bytes` whole pages that repeats the `n` bytes at `period`. */
int sk_sheet_new(const void *period, size_t n, size_t bytes);

/* Makes `bytes` of a room, from `block` on, show the sheet from its page `page` on. */
void sk_sheet_show(int sheet, void *block, size_t bytes, size_t page);

/* Closes the file; the blocks go on showing it. */
void sk_sheet_close(int sheet);

#endif
