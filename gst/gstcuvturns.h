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

/* Waits until fewer than `most` threads have a turn, but not for long: one that
 * has a turn may itself wait for a thread that waits here. Returns whether the
 * caller has a turn now; then call gst_cuv_turns_end(). */
CUV_API gboolean gst_cuv_turns_begin (GstCuvTurns *self, guint most);
CUV_API void gst_cuv_turns_end (GstCuvTurns *self);

/* Posts a message as GstElement does, but one thread at a time. Returns whether
 * the bus took it. message: (transfer full). */
gboolean gst_cuv_post_in_turn (GstElement *element, GstMessage *message);

G_END_DECLS

#endif
