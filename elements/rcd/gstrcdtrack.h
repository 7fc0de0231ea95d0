/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element rcdtrack. */
#ifndef GST_RCD_TRACK_H
#define GST_RCD_TRACK_H

#include "base/gstcuvfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_RCD_TRACK (gst_rcd_track_get_type ())
G_DECLARE_FINAL_TYPE (GstRcdTrack, gst_rcd_track, GST, RCD_TRACK, GstCuvFilter)

GST_ELEMENT_REGISTER_DECLARE (rcdtrack);

G_END_DECLS

#endif
