/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The newest message of each of many topics, which a broker shall retain. A
 * message is sent when it has changed, at most once per interval; in
 * between, newer messages replace older ones. After a lost connection all of
 * them are sent again.
 *
 * Not thread-safe. Times are monotonic, in microseconds. */
#ifndef CUV_RETAINED_H
#define CUV_RETAINED_H

#include "output/spool.h"

G_BEGIN_DECLS

/* Maximum number of these messages in flight. */
#define CUV_RETAINED_WINDOW 32

/* Set in the numbers of these messages, unlike in those of a spool. */
#define CUV_RETAINED_NUMBER (G_GUINT64_CONSTANT (1) << 63)

typedef struct _CuvRetained CuvRetained;

CuvRetained *cuv_retained_new (void);
void cuv_retained_free (CuvRetained *self);

/* Sets the text of a topic, which is sent when interval has passed since its
 * last message. "" makes the broker forget the topic; once it has been sent,
 * the topic is forgotten here, too. */
void cuv_retained_set (CuvRetained *self, const gchar *topic, const gchar *text,
    gint64 interval, gint64 now);

/* Takes the next message to be sent, which is in flight then. flush: regardless
 * of the interval. Returns FALSE if there is none now. */
gboolean cuv_retained_take (CuvRetained *self, gint64 now, gboolean flush,
    CuvMessage *message, guint64 *number);

/* The message was answered, or with again could not be sent before now. Returns
 * its topic, valid until the next call; NULL if the connection was lost
 * since. */
const gchar *cuv_retained_answered (
    CuvRetained *self, guint64 number, gboolean again, gint64 now);

/* All messages are to be sent again. lost: none is in flight any more. */
void cuv_retained_renew (CuvRetained *self, gboolean lost, gint64 now);

/* When the next message may be sent, G_MAXINT64 if there is none. */
gint64 cuv_retained_due (const CuvRetained *self);

/* Number of topics. */
guint cuv_retained_n_topics (const CuvRetained *self);
/* Whether the broker has all messages. */
gboolean cuv_retained_is_sent (const CuvRetained *self);

G_END_DECLS

#endif
