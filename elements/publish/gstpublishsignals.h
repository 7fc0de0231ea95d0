/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that read a buffer's results, for languages without a reader of their
 * own: the Python module gstcuvision is made of them. */
#ifndef GST_PUBLISH_SIGNALS_H
#define GST_PUBLISH_SIGNALS_H

#include <gst/gst.h>

G_BEGIN_DECLS

void gst_publish_install_signals (GType type);

G_END_DECLS

#endif
