/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records on their way out, on a thread of their own.
 *
 * Whoever makes records never waits for whoever takes them: between the two is
 * a queue with a limit, and when it is full the oldest record goes. Where
 * records go is a CuvTarget; a new kind of target is one more CuvTargetClass.
 */
#ifndef CUV_WRITER_H
#define CUV_WRITER_H

#include <gio/gio.h>

G_BEGIN_DECLS

#define CUV_WRITER_MAX_RECORDS 1024
#define CUV_WRITER_MAX_BYTES (64 * 1024 * 1024)
/* How long is waited for a reader that is not there. */
#define CUV_WRITER_ABSENT_MS 2000

/* ---- targets ---- */

typedef struct _CuvTarget CuvTarget;

typedef enum {
  CUV_TARGET_OPEN,
  CUV_TARGET_NOT_YET, /* nobody takes records there now: to be tried again */
  CUV_TARGET_FAILED,
} CuvTargetState;

/* All calls but the first open() and free() come from the writing thread. None
 * blocks for more than about 50 ms, except that open() of a file that is locked
 * may take a second. An error's message names the cause and, where there is
 * one, the cure. */
typedef struct {
  /* Also called again after the connection was lost. */
  CuvTargetState (*open) (CuvTarget *self, GError **error);
  /* How many of the bytes went; 0: none now, -1: failed. */
  gssize (*write) (
      CuvTarget *self, const gchar *data, gsize size, GError **error);
  /* Takes the last size bytes back; FALSE where that cannot be. */
  gboolean (*retract) (CuvTarget *self, gsize size);
  void (*free) (CuvTarget *self);
} CuvTargetClass;

struct _CuvTarget {
  const CuvTargetClass *klass;
  gchar *name; /* as it is called in messages */
  gboolean
      connected;  /* open() makes it TRUE, a write() that fails may end it */
  gboolean empty; /* nothing stands there yet, since the last open() */
};

typedef enum {
  CUV_TARGET_REPLACE, /* the file is made anew */
  CUV_TARGET_APPEND,
  CUV_TARGET_SHARE, /* append, as others may at the same time */
} CuvTargetMode;

/* A file, FIFO or device; NULL: standard output. A regular file is locked; one
 * that another writer has open is refused unless both share it. */
CuvTarget *cuv_target_file_new (const gchar *path, CuvTargetMode mode);

/* ---- the writer ---- */

typedef struct _CuvWriter CuvWriter;

/* What stands around records. */
typedef struct {
  const gchar *begin;   /* once, before the first; not if appending */
  const gchar *between; /* records */
  const gchar *end;     /* after the last */
} CuvFraming;

typedef struct {
  guint64 records; /* written */
  guint64 dropped;
  guint64 bytes; /* written */
  guint queue;   /* waiting */
} CuvWriterCounts;

/* Opens the target, which it takes, and starts the thread. NULL and the error
 * if the target failed; one that is not there yet is waited for. */
CuvWriter *cuv_writer_new (
    CuvTarget *target, const CuvFraming *framing, GError **error);

/* Queues a record; takes text. */
void cuv_writer_push (CuvWriter *self, gchar *text, gsize size);

/* Writes what is queued and the end of the framing, and waits for that at most
 * so long: CUV_WRITER_ABSENT_MS where nobody takes records, no longer once the
 * target fails. FALSE: not all of it is written yet. Records may follow. */
gboolean cuv_writer_finish (CuvWriter *self, guint milliseconds);

/* From any thread: TRUE makes cuv_writer_finish() return at once, a call in
 * progress included, until FALSE is set. */
void cuv_writer_interrupt (CuvWriter *self, gboolean interrupt);

/* What the user should be told, once for each time that something goes wrong;
 * NULL: nothing. To be freed. */
gchar *cuv_writer_take_warning (CuvWriter *self);

void cuv_writer_get_counts (CuvWriter *self, CuvWriterCounts *counts);

/* Writes what is queued and the end of the framing within that time, or less if
 * cuv_writer_finish() has waited in vain before, and frees the writer; what is
 * then still queued counts as dropped. counts and warning: the last ones. */
void cuv_writer_stop (CuvWriter *self, guint milliseconds,
    CuvWriterCounts *counts, gchar **warning);

G_END_DECLS

#endif
