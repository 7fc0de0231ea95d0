/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of houghlines: its properties, and the shape and the
 * parameters that they come to. */
#ifndef GST_HOUGH_SETTINGS_H
#define GST_HOUGH_SETTINGS_H

#include "gstcuvfilter.h"
#include "gstcuvproperties.h"
#include "cuvroi.h"
#include "hough/hough-types.h"

G_BEGIN_DECLS

/* Ways to vote, and a space of its own. */
enum { GST_HOUGH_PCLINES = CUV_HOUGH_RING + 1 };

/* As the properties have them. */
typedef struct {
  gint method; /* CuvHoughMethod or GST_HOUGH_PCLINES */
  gint edges;  /* CuvEdgeSource */
  gint canny_low, canny_high, norm;
  gboolean blur;
  gdouble theta_resolution, theta_min, theta_max, orientation_window;
  gdouble rho_resolution;
  gint pclines_d;
  gint threshold, nms, neighborhood, max_lines;
  gboolean segments;
  gint min_length, max_gap;
  gint draw; /* CuvHoughDraw */
  CuvRoi roi;
} GstHoughValues;

CuvHoughShape gst_hough_values_shape (const GstHoughValues *self);
CuvHoughParams gst_hough_values_params (const GstHoughValues *self);

/* NULL, or which values contradict each other, and what to do; free it. The
 * second, of the shape, allocates. */
gchar *gst_hough_values_problem (const GstHoughValues *self);
gchar *gst_hough_values_shape_problem (const GstHoughValues *self);

/* All under the owner's object lock. */
typedef struct {
  GstCuvFilter *owner;
  GstHoughValues values;
  gchar *roi; /* as it was set */
  gboolean started;
} GstHoughSettings;

void gst_hough_settings_init (GstHoughSettings *self, GstCuvFilter *owner);
void gst_hough_settings_clear (GstHoughSettings *self);

/* FALSE after an element error. */
gboolean gst_hough_settings_start (GstHoughSettings *self);
void gst_hough_settings_stop (GstHoughSettings *self);

GstHoughValues gst_hough_settings_values (GstHoughSettings *self);

void gst_hough_settings_set (
    GstHoughSettings *self, guint id, const GValue *value);
void gst_hough_settings_get (GstHoughSettings *self, guint id, GValue *value);

G_END_DECLS

#endif
