/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that read a buffer's results, for languages without a reader of their
 * own: the Python module gstcuvision is made of them. And the signal reopen. */
#ifndef GST_PUBLISH_SIGNALS_H
#define GST_PUBLISH_SIGNALS_H

#include <gst/gst.h>

G_BEGIN_DECLS

void gst_publish_install_signals (GType type);

/* Of the element: the handler of its signal. */
void gst_vision_publish_reopen (GstElement *element);

G_END_DECLS

#endif
