/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the spool share.
 *
 *   spool.c       messages: push, read, pop
 *   spool-file.c  bytes: opening and locking, headers, the ring buffer
 *
 * The file has two headers, written in turn so that one of them is always
 * intact, and a ring buffer of max_bytes bytes. Positions count bytes since the
 * ring was last empty; the offset in the ring is the position modulo its size.
 * A message is written before the header that includes it. In memory there is
 * only the ring. */
#ifndef CUV_SPOOL_PRIVATE_H
#define CUV_SPOOL_PRIVATE_H

#include "output/spool.h"

G_BEGIN_DECLS

typedef struct {
  gchar magic[8];
  guint32 version, crc; /* crc: of the header with crc 0 */
  guint64 written;      /* headers written so far; the header with the higher
                         * value counts */
  guint64 size;         /* size of the ring */
  guint64 head, tail;   /* positions of the first message and after the last */
  guint64 first, end;   /* numbers of messages */
} CuvSpoolHeader;

struct _CuvSpool {
  gchar *path; /* NULL: in memory */
  int fd;
  gchar *ring; /* the ring in memory */
  guint max_records;
  CuvSpoolHeader header;
  guint64 read_number, read_position; /* the message that is read next */
};

/* Write and read size bytes from a position on. Returns FALSE with an error if
 * the file fails. */
gboolean cuv_spool_write_ring (CuvSpool *self, guint64 position,
    const void *data, gsize size, GError **error);
gboolean cuv_spool_read_ring (
    CuvSpool *self, guint64 position, void *data, gsize size, GError **error);
gboolean cuv_spool_write_header (CuvSpool *self, GError **error);

G_END_DECLS

#endif
