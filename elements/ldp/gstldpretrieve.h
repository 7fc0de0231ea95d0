/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_LDP_RETRIEVE_H
#define GST_LDP_RETRIEVE_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_LDP_RETRIEVE (gst_ldp_retrieve_get_type ())
G_DECLARE_FINAL_TYPE (
    GstLdpRetrieve, gst_ldp_retrieve, GST, LDP_RETRIEVE, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (ldpretrieve)

G_END_DECLS

#endif
