/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Topics of a broker, made from a template in which {source} and {kind} are
 * replaced. */
#ifndef CUV_TOPIC_H
#define CUV_TOPIC_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum { CUV_TOPIC_MQTT, CUV_TOPIC_KAFKA } CuvTopicSyntax;

#define CUV_TOPIC_RECORDS "records"
#define CUV_TOPIC_STATUS "status"

/* Whether pattern is a valid template; the error says what is expected. */
gboolean cuv_topic_check (
    const gchar *pattern, CuvTopicSyntax syntax, GError **error);

gboolean cuv_topic_has_kind (const gchar *pattern);

/* Returns the topic for a source and a kind, to be freed. Characters of source
 * that a topic must not contain become '_'. */
gchar *cuv_topic_expand (const gchar *pattern, CuvTopicSyntax syntax,
    const gchar *source, const gchar *kind);

G_END_DECLS

#endif
