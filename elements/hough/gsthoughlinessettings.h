/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of houghlines, and the config and parameters made of them. */
#ifndef GST_HOUGH_LINES_SETTINGS_H
#define GST_HOUGH_LINES_SETTINGS_H

#include "cuvroi.h"
#include "settings/gstcuvsettings.h"
#include "hough/hough-types.h"

G_BEGIN_DECLS

/* A value of the property method besides those of CuvHoughMethod: votes like
 * SHARED, for lines in parallel coordinates. */
enum { GST_HOUGH_PCLINES = CUV_HOUGH_RING + 1 };

typedef struct {
  gint method;           /* CuvHoughMethod or GST_HOUGH_PCLINES */
  CuvHoughParams params; /* max_lines 0: all; neighborhood may be even */
  gdouble theta_resolution, theta_min, theta_max, orientation_window;
  gdouble rho_resolution;
  gint pclines_d;
  gint draw; /* CuvHoughDraw */
  gchar *roi;
  CuvRoi area; /* roi, parsed */
} GstHoughLinesSettings;

extern const GstCuvSettingsTable gst_hough_lines_settings;

/* Returns the config without a frame size. */
CuvHoughConfig gst_hough_lines_config (const GstHoughLinesSettings *self);
CuvHoughParams gst_hough_lines_params (const GstHoughLinesSettings *self);

/* Returns a warning if angles look like radians, otherwise NULL; free it. */
gchar *gst_hough_lines_radians (const GstHoughLinesSettings *self);

/* Returns NULL, or why no direction remains; g_free() it. */
gchar *gst_hough_lines_check_config (const GstHoughLinesSettings *self);

/* Returns the nick of a value of the property method. */
const gchar *gst_hough_lines_method_nick (gint method);

G_END_DECLS

#endif
