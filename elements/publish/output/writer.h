/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes records on a thread of its own.
 *
 * cuv_writer_push() never blocks: records wait in a bounded queue, and when it
 * is full the oldest one is dropped. Where records are written is a CuvTarget;
 * a new kind of target is one more CuvTargetClass. */
#ifndef CUV_WRITER_H
#define CUV_WRITER_H

#include <gio/gio.h>

G_BEGIN_DECLS

#define CUV_WRITER_MAX_RECORDS 1024
#define CUV_WRITER_MAX_BYTES (64 * 1024 * 1024)
/* How long cuv_writer_finish() waits for a reader to appear. */
#define CUV_WRITER_ABSENT_MS 2000

/* ---- targets ---- */

typedef struct _CuvTarget CuvTarget;

typedef enum {
  CUV_TARGET_OPEN,
  CUV_TARGET_NOT_YET, /* a FIFO without a reader: try again */
  CUV_TARGET_FAILED,
} CuvTargetState;

/* All calls but the first open() and free() come from the writing thread. None
 * blocks for more than about 50 ms, except that open() of a file that is locked
 * may take a second. An error's message names the cause and, where there is
 * one, the remedy. */
typedef struct {
  /* Also called again after the connection was lost or the target has moved:
   * closes what was open. */
  CuvTargetState (*open) (CuvTarget *self, GError **error);
  /* The number of bytes written; 0: try again later, -1: failed. */
  gssize (*write) (
      CuvTarget *self, const gchar *data, gsize size, GError **error);
  /* Removes the last size bytes written; FALSE where that is impossible. */
  gboolean (*retract) (CuvTarget *self, gsize size);
  /* Whether open() would open something else. NULL: never. */
  gboolean (*moved) (CuvTarget *self);
  void (*free) (CuvTarget *self);
} CuvTargetClass;

struct _CuvTarget {
  const CuvTargetClass *klass;
  gchar *name;        /* for messages */
  gboolean connected; /* set by open(); a write() that fails may clear it */
  gboolean empty;     /* at the last open() */
};

typedef enum {
  CUV_TARGET_REPLACE, /* an existing file is truncated */
  CUV_TARGET_APPEND,
  CUV_TARGET_SHARE, /* append, and others may do so at the same time */
} CuvTargetMode;

/* A file, FIFO or device; NULL: standard output. A regular file is locked; one
 * that another writer has open is refused unless both share it. */
CuvTarget *cuv_target_file_new (const gchar *path, CuvTargetMode mode);

/* ---- the writer ---- */

typedef struct _CuvWriter CuvWriter;

/* The text around records. */
typedef struct {
  const gchar *begin;   /* once, before the first; not if appending */
  const gchar *between; /* between two records */
  const gchar *end;     /* after the last */
} CuvFraming;

typedef struct {
  guint64 records; /* written */
  guint64 dropped;
  guint64 bytes; /* written */
  guint queue;   /* waiting */
} CuvWriterCounts;

/* Takes ownership of the target, opens it and starts the thread. NULL and an
 * error if the target cannot be opened; CUV_TARGET_NOT_YET is no error. */
CuvWriter *cuv_writer_new (
    CuvTarget *target, const CuvFraming *framing, GError **error);

/* Queues a record; takes ownership of text. */
void cuv_writer_push (CuvWriter *self, gchar *text, gsize size);

/* Writes the queue and the end of the framing, and waits until that is done:
 * for at most the given time, CUV_WRITER_ABSENT_MS where there is no reader,
 * and no longer once the target fails. FALSE if not everything is written by
 * then. More records may be pushed afterwards. */
gboolean cuv_writer_finish (CuvWriter *self, guint milliseconds);

/* If the target has moved, ends the framing there and opens the new one. That
 * happens before each record; this does it now. Does not wait. */
void cuv_writer_reopen (CuvWriter *self);

/* From any thread: TRUE makes cuv_writer_finish() return at once, a call in
 * progress included, until FALSE is set. */
void cuv_writer_interrupt (CuvWriter *self, gboolean interrupt);

/* A message for the user, once each time that writing begins to fail; NULL if
 * there is none. The caller frees it. */
gchar *cuv_writer_take_warning (CuvWriter *self);

void cuv_writer_get_counts (CuvWriter *self, CuvWriterCounts *counts);

/* Writes the queue and the end of the framing within the given time, less if
 * cuv_writer_finish() timed out before, and frees the writer. Records that are
 * left count as dropped. Returns the final counts and the last warning (NULL or
 * to be freed). */
void cuv_writer_stop (CuvWriter *self, guint milliseconds,
    CuvWriterCounts *counts, gchar **warning);

G_END_DECLS

#endif
