#define _GNU_SOURCE
#include "base/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void write_cpu(struct sk_json *json, const char *otherwise)
{
    char line[512] = "", *colon = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && (colon = strchr(line, ':')))
            break;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    sk_json_text(json, "cpu", colon ? colon + 1 + (colon[1] == ' ') : otherwise);
}

void sk_host_write(struct sk_json *json, const char *host, int cores)
{
    struct utsname names;
    char kernel[2 * sizeof names.sysname] = "unknown", started[32] = "";
    bool known = uname(&names) == 0;
    if (known)
        snprintf(kernel, sizeof kernel, "%s %s", names.sysname, names.release);
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    sk_json_text(json, "host", host ? host : known ? names.nodename : "");
    sk_json_text(json, "kernel", kernel);
    write_cpu(json, known ? names.machine : "unknown");
    sk_json_int(json, "cores", cores);
    sk_json_text(json, "started", started);
}
