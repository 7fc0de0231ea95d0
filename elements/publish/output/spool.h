/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bounded first-in, first-out queue of messages, in memory or in a file. A
 * file survives the process: once cuv_spool_push() has returned TRUE, the
 * message is there even if the process is killed at any moment. The file is not
 * synchronised to the disk: when the machine loses power, the last seconds may
 * be lost.
 *
 * Not thread-safe. */
#ifndef CUV_SPOOL_H
#define CUV_SPOOL_H

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _CuvSpool CuvSpool;

/* After cuv_spool_read() all strings are in one block that begins at topic and
 * is freed by cuv_message_clear(). */
typedef struct {
  const gchar *topic; /* NUL-terminated */
  const gchar *key;   /* NUL-terminated, may be empty */
  const gchar *text;  /* size bytes */
  gsize size;
} CuvMessage;

void cuv_message_clear (CuvMessage *self);

/* Returns how many bytes a message takes in a spool. */
gsize cuv_message_bytes (const CuvMessage *self);

/* Minimum of max_bytes. */
#define CUV_SPOOL_MIN_BYTES 4096

/* Creates a spool in memory if path is NULL. Otherwise creates a file, or opens
 * one with the messages in it, locks it, and reserves its space. Its size is
 * max_bytes, but a file with messages keeps its size. Errors: the file cannot
 * be opened, is locked by another spool, is not a spool, or there is no room
 * for it. */
CuvSpool *cuv_spool_new (
    const gchar *path, guint64 max_bytes, guint max_records, GError **error);
void cuv_spool_free (CuvSpool *self);

gboolean cuv_spool_is_file (const CuvSpool *self);

/* Messages are numbered: those in the spool are first .. end - 1. Numbers
 * continue when a file is opened again. */
guint64 cuv_spool_first (const CuvSpool *self);
guint64 cuv_spool_end (const CuvSpool *self);

/* Whether a message of this many bytes fits now. */
gboolean cuv_spool_has_room (const CuvSpool *self, gsize bytes);
/* Whether a message of this many bytes fits into an empty spool. */
gboolean cuv_spool_can_hold (const CuvSpool *self, gsize bytes);

/* Appends a message; there must be room for it. Returns FALSE if the file
 * cannot be written; nothing has changed then. */
gboolean cuv_spool_push (
    CuvSpool *self, const CuvMessage *message, GError **error);

/* Removes the first message. */
void cuv_spool_pop (CuvSpool *self);

/* Reads the message with this number, which must be in the spool; fast for the
 * first message and for the one after the last that was read. Returns FALSE if
 * the file cannot be read or is damaged; the rest of it is then lost as
 * well. */
gboolean cuv_spool_read (
    CuvSpool *self, guint64 number, CuvMessage *message, GError **error);

G_END_DECLS

#endif
