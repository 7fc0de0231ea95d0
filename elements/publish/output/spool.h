/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A first-in, first-out queue of messages within bounds, in memory or in a
 * file. A file survives the process: what cuv_spool_push() has returned TRUE
 * for is there after a kill at any moment. It is not synchronised to the disk:
 * when the machine loses power, messages of its last seconds may be lost.
 *
 * No locking: one thread at a time. */
#ifndef CUV_SPOOL_H
#define CUV_SPOOL_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _CuvSpool CuvSpool;

/* Pointers into one block, which begins at topic and is freed by
 * cuv_message_clear() after cuv_spool_read(). */
typedef struct {
  const gchar *topic; /* ends in NUL */
  const gchar *key;   /* ends in NUL, may be empty */
  const gchar *text;  /* size bytes */
  gsize size;
} CuvMessage;

void cuv_message_clear (CuvMessage *self);

/* The bytes that a message takes in a spool. */
gsize cuv_message_bytes (const CuvMessage *self);

/* The least value of max_bytes. */
#define CUV_SPOOL_MIN_BYTES 4096

/* path NULL: in memory. A file is created, or opened with the messages that it
 * has, and locked; its space is reserved. If it has messages, its size stays;
 * else max_bytes is its size. Errors: the file cannot be opened, is locked by
 * another spool, is not a spool, or there is no room for it. */
CuvSpool *cuv_spool_new (
    const gchar *path, guint64 max_bytes, guint max_records, GError **error);
void cuv_spool_free (CuvSpool *self);

gboolean cuv_spool_is_file (const CuvSpool *self);

/* Messages are numbered: those in the spool are first .. end - 1. A file begins
 * with the numbers that it ended with. */
guint64 cuv_spool_first (const CuvSpool *self);
guint64 cuv_spool_end (const CuvSpool *self);

/* Whether bytes more would be within the bounds. */
gboolean cuv_spool_has_room (const CuvSpool *self, gsize bytes);
/* Whether bytes would be, were the spool empty. */
gboolean cuv_spool_can_hold (const CuvSpool *self, gsize bytes);

/* Appends a message. There must be room. FALSE: the file cannot be written,
 * and nothing has changed. */
gboolean cuv_spool_push (
    CuvSpool *self, const CuvMessage *message, GError **error);

/* Removes the first message. */
void cuv_spool_pop (CuvSpool *self);

/* Reads the message with this number, which must be in the spool: fast for the
 * first one and for the one after the last that was read. FALSE: the file
 * cannot be read, or it was damaged; then the rest of it is lost as well. */
gboolean cuv_spool_read (
    CuvSpool *self, guint64 number, CuvMessage *message, GError **error);

G_END_DECLS

#endif
