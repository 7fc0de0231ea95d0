/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_LDP_DESCRIPTOR_H
#define GST_LDP_DESCRIPTOR_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_LDP_DESCRIPTOR (gst_ldp_descriptor_get_type ())
G_DECLARE_FINAL_TYPE (
    GstLdpDescriptor, gst_ldp_descriptor, GST, LDP_DESCRIPTOR, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (ldpdescriptor)

/* Name of the structure of a custom query upstream: whether an element there
 * describes frames, even before the first frame. */
#define GST_LDP_QUERY_DESCRIBED "GstCuvLdpDescribed"

G_END_DECLS

#endif
