/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_LDP_INDEX_SINK_H
#define GST_LDP_INDEX_SINK_H

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_LDP_INDEX_SINK (gst_ldp_index_sink_get_type ())
G_DECLARE_FINAL_TYPE (
    GstLdpIndexSink, gst_ldp_index_sink, GST, LDP_INDEX_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (ldpindexsink)

G_END_DECLS

#endif
