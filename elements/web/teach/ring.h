/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that pages were sent a short while ago, and those that clients hold.
 * Thread-safe. */
#ifndef CUV_TEACH_RING_H
#define CUV_TEACH_RING_H

#include "frame.h"

G_BEGIN_DECLS

#define CUV_RING_MAX_FRAMES 64
#define CUV_RING_MAX_BYTES (32 << 20)
#define CUV_RING_MAX_HELD 8

typedef struct {
  gint64 number;      /* frame_num of its record */
  gint width, height; /* of the frame; the picture may be smaller */
  CuvWebFrame *frame;
  guint64 client; /* who holds it; 0: nobody */
} CuvRingFrame;

typedef struct {
  GMutex lock;
  GArray *recent, *held; /* CuvRingFrame, the newest one last */
  gsize bytes;           /* of recent */
} CuvRing;

void cuv_ring_init (CuvRing *self);
void cuv_ring_clear (CuvRing *self);

/* Adds a reference to the frame; the oldest frames go. */
void cuv_ring_add (CuvRing *self, const CuvRingFrame *frame);
/* Releases all frames; those that nobody holds. */
void cuv_ring_empty (CuvRing *self);
void cuv_ring_empty_recent (CuvRing *self);

/* Holds the newest frame of this number, instead of the one that this client
 * holds. FALSE if it is not there. */
gboolean cuv_ring_hold (CuvRing *self, gint64 number, guint64 client);
/* Returns a text that says that the frame is not there, to be freed. */
gchar *cuv_ring_missing (gint64 number);
/* Finds the newest frame of this number; its frame is to be unreffed. */
gboolean cuv_ring_find (CuvRing *self, gint64 number, CuvRingFrame *found);

G_END_DECLS

#endif
