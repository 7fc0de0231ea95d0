/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Topics of a broker, from a template: {source} and {kind} are replaced. */
#ifndef CUV_TOPIC_H
#define CUV_TOPIC_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum { CUV_TOPIC_MQTT, CUV_TOPIC_KAFKA } CuvTopicSyntax;

#define CUV_TOPIC_RECORDS "records"
#define CUV_TOPIC_STATUS "status"

/* The error says what a template may contain. */
gboolean cuv_topic_check (
    const gchar *pattern, CuvTopicSyntax syntax, GError **error);

gboolean cuv_topic_has_kind (const gchar *pattern);

/* Characters of source that a topic must not have become '_'. The caller frees
 * the result. */
gchar *cuv_topic_expand (const gchar *pattern, CuvTopicSyntax syntax,
    const gchar *source, const gchar *kind);

G_END_DECLS

#endif
