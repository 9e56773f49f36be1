#include "trace/news.h"

#include "base/json.h"
#include "trace/define.h"
#include "trace/filter.h"

const char *sk_news(void)
{
    static struct sk_json news;
    bool is_filter_new = sk_filter_has_news();
    if (!sk_define_has_news() && !is_filter_new)
        return NULL;
    sk_json_clear(&news);
    sk_json_begin(&news, NULL, '{');
    sk_define_tell(&news);
    if (is_filter_new)
        sk_filter_tell(&news);
    sk_json_end(&news, '}');
    return news.text;
}
