/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of houghlines: names, ranges, where their values are. */
#ifndef GST_HOUGH_PROPERTIES_H
#define GST_HOUGH_PROPERTIES_H

#include "gsthoughlinessettings.h"

G_BEGIN_DECLS

enum { GST_HOUGH_PROP_ROI = 1, GST_HOUGH_PROP_FIRST };

/* Where a property's value is; NULL for the roi. */
gpointer gst_hough_property_place (GstHoughValues *values, guint id);

void gst_hough_properties_reset (GstHoughValues *values);
void gst_hough_properties_install (GObjectClass *klass);

/* The nick of a value of the property method. */
const gchar *gst_hough_method_nick (gint method);

G_END_DECLS

#endif
