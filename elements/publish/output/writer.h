/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes records to a file on a thread of its own; for brokers there is
 * CuvOutbox.
 *
 * cuv_writer_push() never blocks: records wait in a bounded queue, and when it
 * is full the oldest one is dropped. A CuvTarget is what records are written
 * to; a new kind of target is one more CuvTargetClass. */
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

/* The writing thread calls all functions, except the first open() and free().
 * None blocks for more than about 50 ms, but open() may wait a second for a
 * locked file. Error messages name the cause and, if there is one, the fix. */
typedef struct {
  /* Opens the target, after closing it if it was open: called again when the
   * connection was lost or the target has moved. */
  CuvTargetState (*open) (CuvTarget *self, GError **error);
  /* Returns the number of bytes written; 0: try again later, -1: failed. */
  gssize (*write) (
      CuvTarget *self, const gchar *data, gsize size, GError **error);
  /* Removes the last size bytes written. Returns FALSE if that is not
   * possible. */
  gboolean (*retract) (CuvTarget *self, gsize size);
  /* Whether open() would open something else. A NULL pointer: never. */
  gboolean (*moved) (CuvTarget *self);
  void (*free) (CuvTarget *self);
} CuvTargetClass;

struct _CuvTarget {
  const CuvTargetClass *klass;
  gchar *name;        /* name for use in messages */
  gboolean connected; /* set by open(); cleared by a write() that fails, and
                       * if the target has moved */
  gboolean empty;     /* the file was empty at the last open() */
};

typedef enum {
  CUV_TARGET_REPLACE, /* an existing file is truncated */
  CUV_TARGET_APPEND,
  CUV_TARGET_SHARE, /* append, and others may append at the same time */
} CuvTargetMode;

/* Creates a target for a file, FIFO or device, or for standard output if path
 * is NULL. A regular file is locked, and refused if another writer has it open,
 * unless both share it. */
CuvTarget *cuv_target_file_new (const gchar *path, CuvTargetMode mode);

/* ---- the writer ---- */

typedef struct _CuvWriter CuvWriter;

/* The text around records. */
typedef struct {
  /* text before the first record; not written if appending */
  const gchar *begin;
  const gchar *between; /* text between two records */
  const gchar *end;     /* text after the last record */
} CuvFraming;

typedef struct {
  guint64 records; /* records written */
  guint64 dropped;
  guint64 bytes; /* bytes written */
  guint queue;   /* records waiting */
} CuvWriterCounts;

/* Takes ownership of the target, opens it and starts the thread. Returns NULL
 * and an error if the target cannot be opened; CUV_TARGET_NOT_YET is not an
 * error. */
CuvWriter *cuv_writer_new (
    CuvTarget *target, const CuvFraming *framing, GError **error);

/* Queues a record; takes ownership of text. */
void cuv_writer_push (CuvWriter *self, gchar *text, gsize size);

/* Writes the queue and the end of the framing, and waits until that is done:
 * for at most the given time, for CUV_WRITER_ABSENT_MS if there is no reader,
 * and not after the target has failed. Returns FALSE if anything is left. More
 * records may be pushed afterwards. */
gboolean cuv_writer_finish (CuvWriter *self, guint milliseconds);

/* If the target has moved, ends the framing there and opens the new one, as
 * happens before each record. Does not wait. */
void cuv_writer_reopen (CuvWriter *self);

/* May be called from any thread. TRUE makes cuv_writer_finish() return at once,
 * a call in progress included, until FALSE is set. */
void cuv_writer_interrupt (CuvWriter *self, gboolean interrupt);

/* Returns the pending warning for the user, or NULL; there is one each time
 * that writing begins to fail. The caller frees it. */
gchar *cuv_writer_take_warning (CuvWriter *self);

void cuv_writer_get_counts (CuvWriter *self, CuvWriterCounts *counts);

/* Writes the queue and the end of the framing within the given time, or a
 * shorter one if cuv_writer_finish() has timed out, and frees the writer. What
 * is left counts as dropped. Returns the final counts and the last warning
 * (NULL, or to be freed). */
void cuv_writer_stop (CuvWriter *self, guint milliseconds,
    CuvWriterCounts *counts, gchar **warning);

G_END_DECLS

#endif
