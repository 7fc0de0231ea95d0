/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "settings/gstcuvmetadata.h"

GST_CUV_DEFINE_PUBLIC_ENUM (gst_cuv_metadata_get_type, "GstCuvMetadata",
    { GST_CUV_METADATA_BOTH,
        "Regions of interest, and GstAnalytics from GStreamer 1.24 on",
        "both" },
    { GST_CUV_METADATA_ANALYTICS,
        "GstAnalytics; regions of interest for what it cannot hold",
        "analytics" },
    { GST_CUV_METADATA_ROI, "Regions of interest", "roi" })

gchar *
gst_cuv_metadata_problem (gint metadata)
{
#if !HAVE_ANALYTICS
  if (metadata == GST_CUV_METADATA_ANALYTICS)
    return g_strdup (
        "metadata=analytics needs GstAnalytics, which this build lacks: set "
        "metadata to both or roi, or build with GStreamer 1.24 or later "
        "and libgstreamer-plugins-bad1.0-dev");
#endif
  return NULL;
}
