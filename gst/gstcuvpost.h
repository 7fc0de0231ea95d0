/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of the threads of many streams on one bus. */
#ifndef GST_CUV_POST_H
#define GST_CUV_POST_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Posts a message as GstElement does, but one thread at a time. Returns whether
 * the bus took it. message: (transfer full). */
gboolean gst_cuv_post_in_turn (GstElement *element, GstMessage *message);

G_END_DECLS

#endif
