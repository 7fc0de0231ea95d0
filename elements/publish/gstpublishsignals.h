/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The action signals of visionpublish: those that read a buffer's results, on
 * which the Python module gstcuvision is built, and reopen. */
#ifndef GST_PUBLISH_SIGNALS_H
#define GST_PUBLISH_SIGNALS_H

#include <gst/gst.h>

G_BEGIN_DECLS

void gst_publish_install_signals (GType type);

/* The handler of the signal reopen, in gstvisionpublish.c. */
void gst_vision_publish_reopen (GstElement *element);

G_END_DECLS

#endif
