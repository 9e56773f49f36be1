#define _GNU_SOURCE
#include "trace/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* That which was asked for last. */
static struct { const void *base; const char *data; size_t bytes; time_t changed; } file;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A simulator runs copies of the program, which are gone soon: program_12345_0.so. Writes the path of the program, or
 * of the file itself if it is none of these. */
static void original(const char *path, char *found, size_t room)
{
    snprintf(found, room, "%s", path);
#ifdef SK_SIMULATED
    static char words[1 << 16];
    FILE *line = fopen("/proc/self/cmdline", "rb");
    size_t n = line ? fread(words, 1, sizeof words - 1, line) : 0;
    if (line)
        fclose(line);
    words[n] = '\0';
    for (const char *word = words; word < words + n; word += strlen(word) + 1) {
        size_t length = strlen(base_name(word));
        if (length > 0 && strncmp(base_name(path), base_name(word), length) == 0 && base_name(path)[length] == '_')
            snprintf(found, room, "%s", word);
    }
#endif
}

void sk_symbols_forget(void)
{
    if (file.data)
        munmap((void *)(uintptr_t)file.data, file.bytes);
    file.data = NULL;
    file.base = NULL;
    file.bytes = 0;
    file.changed = 0;
}

static void look_into(const char *path, const void *base)
{
    struct stat told;
    if (file.base == base)
        return;
    sk_symbols_forget();
    file.base = base;
    int stream = open(path, O_RDONLY | O_CLOEXEC);
    if (stream >= 0 && fstat(stream, &told) == 0 && told.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        void *data = mmap(NULL, (size_t)told.st_size, PROT_READ, MAP_PRIVATE, stream, 0);
        file.data = data == MAP_FAILED ? NULL : data;
        file.bytes = (size_t)told.st_size;
        file.changed = told.st_mtime;
    }
    if (stream >= 0)
        close(stream);
}

/* Returns `n` things of `size` bytes at an offset of the file, NULL if it is not that long. */
static const void *part(uint64_t offset, uint64_t n, size_t size)
{
    return offset <= file.bytes && n <= (file.bytes - offset) / size ? file.data + offset : NULL;
}

/* Address that the file itself gives to its first byte in memory. */
static uintptr_t first_address(const ElfW(Ehdr) *head)
{
    const ElfW(Phdr) *segment = part(head->e_phoff, head->e_phnum, sizeof *segment);
    uintptr_t least = UINTPTR_MAX;
    for (int k = 0; segment && k < head->e_phnum; k++)
        if (segment[k].p_type == PT_LOAD && segment[k].p_vaddr < least)
            least = segment[k].p_vaddr;
    return least == UINTPTR_MAX ? 0 : least & ~(uintptr_t)4095;
}

/* Finds the function at an address of the file in one table of symbols. */
static const char *search(const ElfW(Shdr) *table, const ElfW(Shdr) *texts, uintptr_t address, uintptr_t *begin)
{
    const ElfW(Sym) *symbol = part(table->sh_offset, table->sh_size / sizeof *symbol, sizeof *symbol);
    const char *names = part(texts->sh_offset, texts->sh_size, 1);
    for (uint64_t k = 0; symbol && names && k < table->sh_size / sizeof *symbol; k++) {
        uint32_t at = symbol[k].st_name;
        bool is_it = (symbol[k].st_info & 0xF) == STT_FUNC && address - symbol[k].st_value < symbol[k].st_size;
        if (is_it && at < texts->sh_size && memchr(names + at, 0, texts->sh_size - at)) {
            *begin = symbol[k].st_value;
            return names + at;
        }
    }
    return NULL;
}

static const char *function_at(uintptr_t offset, uintptr_t *begin)
{
    const ElfW(Ehdr) *head = (const void *)file.data;
    if (!file.data || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)))
        return NULL;
    const ElfW(Shdr) *section = part(head->e_shoff, head->e_shnum, sizeof *section);
    uintptr_t first = first_address(head);
    for (int k = 0; section && k < head->e_shnum; k++)
        if (section[k].sh_type == SHT_SYMTAB && section[k].sh_link < head->e_shnum) {
            const char *name = search(&section[k], &section[section[k].sh_link], offset + first, begin);
            *begin -= name ? first : 0;
            return name;
        }
    return NULL;
}

void sk_symbols_find(const void *site, struct sk_site *found)
{
    Dl_info where;
    uintptr_t begin = 0;
    found->text[0] = found->object[0] = '\0';
    found->address = found->bytes = found->changed = 0;
    if (!site || !dladdr(site, &where) || !where.dli_fname)
        return;
    uintptr_t offset = (uintptr_t)site - (uintptr_t)where.dli_fbase;
    original(where.dli_fname, found->object, sizeof found->object);
    look_into(found->object, where.dli_fbase);
    const char *name = function_at(offset, &begin);
    if (!name && where.dli_sname) {
        name = where.dli_sname;
        begin = (uintptr_t)where.dli_saddr - (uintptr_t)where.dli_fbase;
    }
    name = name ? name : base_name(found->object);
    int length = (int)strcspn(name, begin ? "." : ""); /* without .part.0 and .constprop.0 of the compiler */
    snprintf(found->text, sizeof found->text, "%.*s+0x%lx", length < 200 ? length : 200, name,
             (unsigned long)(offset - begin));
    found->address = offset + (file.data ? first_address((const void *)file.data) : 0);
    found->bytes = file.bytes;
    found->changed = (uint64_t)file.changed;
}

void sk_symbols_describe(const void *site, char *text, size_t room)
{
    struct sk_site found;
    sk_symbols_find(site, &found);
    snprintf(text, room, "%s", found.text);
}

void sk_tell_site(struct sk_json *to, const struct sk_site *site)
{
    sk_json_text(to, "site", site->text);
    sk_json_text(to, "object", site->object);
    sk_json_uint(to, "address", site->address);
    sk_json_uint(to, "size", site->bytes);
    sk_json_uint(to, "changed", site->changed);
}
