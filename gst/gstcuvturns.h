/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns: what only a few threads of a process do at a time, because they would
 * delay each other. Those that wait for their turn sleep. */
#ifndef GST_CUV_TURNS_H
#define GST_CUV_TURNS_H

#include <gst/gst.h>
#include "cuv-api.h"

G_BEGIN_DECLS

/* Initialise static ones with zeros. */
typedef struct {
  guint n; /* threads that have a turn */
  GMutex lock;
  GCond one_less;
} GstCuvTurns;

/* Waits until fewer than `most` threads have a turn, in no particular order,
 * but at most for `longest` microseconds: a thread that has a turn may itself
 * wait for one that waits here. Returns whether the caller has a turn now; then
 * it calls gst_cuv_turns_end(). Without a turn it goes on all the same. */
CUV_API gboolean gst_cuv_turns_begin (
    GstCuvTurns *self, guint most, gint64 longest);
CUV_API void gst_cuv_turns_end (GstCuvTurns *self);

/* Posts a message as GstElement does, but one thread of a pipeline at a time.
 * The application's synchronous handlers run in this turn; one that takes
 * longer than 20 ms no longer delays others. Returns whether the bus took the
 * message. message: (transfer full). */
gboolean gst_cuv_post_in_turn (GstElement *element, GstMessage *message);

G_END_DECLS

#endif
