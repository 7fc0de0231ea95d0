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
#define CUV_TOPIC_METRICS "metrics"

/* Whether pattern is a valid template; the error says what is expected. */
gboolean cuv_topic_check (
    const gchar *pattern, CuvTopicSyntax syntax, GError **error);

gboolean cuv_topic_has_kind (const gchar *pattern);

/* Whether text, "/" and more text are a valid MQTT topic. */
gboolean cuv_topic_is_prefix (const gchar *text);

/* Returns the topic for a source and a kind, to be freed. Characters of source
 * that a topic must not contain become '_'. */
gchar *cuv_topic_expand (const gchar *pattern, CuvTopicSyntax syntax,
    const gchar *source, const gchar *kind);

/* Appends any text as one level of an MQTT topic: different texts give
 * different levels. Spaces, / + # % and what is not printable become %XX, as in
 * URIs. */
void cuv_topic_append_level (GString *topic, const gchar *text);

G_END_DECLS

#endif
