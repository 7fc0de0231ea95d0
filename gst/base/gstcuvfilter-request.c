/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event that requests an analysis. */
#include "config.h"
#include "base/gstcuvfilter.h"

#define REQUEST_ANALYSIS "GstCuvRequestAnalysis"

GstEvent *
gst_cuv_event_new_request_analysis (void)
{
  return gst_event_new_custom (
      GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty (REQUEST_ANALYSIS));
}

gboolean
gst_cuv_event_is_request_analysis (const GstEvent *event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM
      && gst_event_has_name ((GstEvent *) event, REQUEST_ANALYSIS);
}
