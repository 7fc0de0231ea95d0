/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsthoughlinesproperties.h"

#include "gsthoughlinessettings.h"

#define AT(field) G_STRUCT_OFFSET (GstHoughValues, field)

/* ---- enums ---- */

static const GEnumValue methods[] = {
  { CUV_HOUGH_AUTO, "What is fastest for the frame", "auto" },
  { CUV_HOUGH_GLOBAL, "Each edge adds to the accumulator in memory", "global" },
  { CUV_HOUGH_SHARED, "Slices of a few rows in fast memory", "shared" },
  { CUV_HOUGH_GATHER, "Each cell counts its pixels, edges or not", "gather" },
  { CUV_HOUGH_RING, "A few rows at a time, and no accumulator", "ring" },
  { GST_HOUGH_PCLINES, "Lines in parallel coordinates, as shared", "pclines" },
  { 0, NULL, NULL },
};

static GType
method_get_type (void)
{
  static gsize type = 0;

  return gst_cuv_enum_register (&type, "GstHoughMethod", methods);
}

const gchar *
gst_hough_method_nick (gint method)
{
  return methods[method].value_nick;
}

static GType
edges_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_EDGES_CANNY, "Those that Canny's detector finds", "canny" },
    { CUV_EDGES_INPUT, "All pixels of the frame that are not black", "input" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstHoughEdges", values);
}

static GType
norm_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_CANNY_L1, "|gx| + |gy|", "l1" },
    { CUV_CANNY_L2, "The square root of gx^2 + gy^2", "l2" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstHoughNorm", values);
}

static GType
nms_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_PEAKS_ALL, "Every cell above the threshold is a line", "none" },
    { CUV_PEAKS_CROSS, "More votes than its four neighbours, as OpenCV",
        "cross" },
    { CUV_PEAKS_SQUARE, "The most votes of a square: neighborhood", "square" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstHoughNms", values);
}

static GType
draw_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { CUV_HOUGH_DRAW_NONE, "Leave the frame as it is", "none" },
    { CUV_HOUGH_DRAW_EDGES, "The edges, white on black", "edges" },
    { CUV_HOUGH_DRAW_ACCUMULATOR,
        "The votes, theta from left to right, rho downwards", "accumulator" },
    { 0, NULL, NULL },
  };

  return gst_cuv_enum_register (&type, "GstHoughDraw", values);
}

/* ---- the table ---- */

/**
 * GstHoughLines:method:
 *
 * All but pclines find the same lines: they differ in time and memory. stats
 * says which one auto took.
 *
 * Since: 0.1
 */
/**
 * GstHoughLines:orientation-window:
 *
 * 0 is 10 degrees, but 90 with edges=input and method=gather, which know no
 * directions of edges. OpenCV's HoughLines counts as 90.
 *
 * Since: 0.1
 */
/**
 * GstHoughLines:theta-max:
 *
 * Normals are looked at from theta-min up to below theta-max, which may be up
 * to 180 degrees more: 80 to 100 are the lines within 10 degrees of the
 * horizontal. Results are from -90 up to below 90 degrees always.
 *
 * Since: 0.1
 */
static const GstCuvProperty properties[] = {
  { "method", "Method", "How votes are counted", AT (method), 0,
      method_get_type, 0, 0, CUV_HOUGH_AUTO, 0 },
  { "edges", "Edges", "Where the edges come from", AT (edges), 0,
      edges_get_type, 0, 0, CUV_EDGES_CANNY, 0 },
  { "canny-low", "Canny low threshold",
      "Gradient above which a pixel connected to an edge is one, too",
      AT (canny_low), G_TYPE_UINT, NULL, 0, 2040, 50, 0 },
  { "canny-high", "Canny high threshold",
      "Gradient above which a pixel is an edge", AT (canny_high), G_TYPE_UINT,
      NULL, 0, 2040, 100, 0 },
  { "blur", "Blur", "Smooth the frame before edges are looked for", AT (blur),
      G_TYPE_BOOLEAN, NULL, 0, 1, TRUE, 0 },
  { "norm", "Norm", "How the gradient is measured", AT (norm), 0, norm_get_type,
      0, 0, CUV_CANNY_L1, 0 },
  { "theta-resolution", "Theta resolution",
      "Degrees from one direction of lines to the next, such that a whole "
      "number of them is 180",
      AT (theta_resolution), G_TYPE_DOUBLE, NULL, 0.05, 90, 0.5, 0 },
  { "theta-min", "Minimum theta",
      "Least angle of the lines' normals, degrees: 0 is a vertical line",
      AT (theta_min), G_TYPE_DOUBLE, NULL, -90, 90, -90, 0 },
  { "theta-max", "Maximum theta",
      "Angle that the lines' normals stay below, degrees", AT (theta_max),
      G_TYPE_DOUBLE, NULL, -90, 270, 90, 0 },
  { "rho-resolution", "Rho resolution",
      "Pixels from one distance of lines to the next", AT (rho_resolution),
      G_TYPE_DOUBLE, NULL, 1, 100, 1, 0 },
  { "pclines-d", "PClines D", "Directions in 90 degrees (method=pclines)",
      AT (pclines_d), G_TYPE_UINT, NULL, 1, CUV_HOUGH_MAX_PERIOD / 2, 128, 0 },
  { "orientation-window", "Orientation window",
      "Degrees that a line may differ from an edge's own direction to get its "
      "vote (90 = any line gets it, 0 = 10 where edges have directions, else "
      "90)",
      AT (orientation_window), G_TYPE_DOUBLE, NULL, 0, 90, 0, 0 },
  { "threshold", "Threshold", "A line has more votes than this, edge pixels",
      AT (threshold), G_TYPE_UINT, NULL, 1, G_MAXINT, 100, 0 },
  { "nms", "Non-maximum suppression",
      "Which cells above the threshold are lines", AT (nms), 0, nms_get_type, 0,
      0, CUV_PEAKS_SQUARE, 0 },
  { "neighborhood", "Neighborhood",
      "Cells across and down that a line has the most votes of; an even number "
      "counts as the next one (nms=square)",
      AT (neighborhood), G_TYPE_UINT, NULL, 3, CUV_HOUGH_MAX_NEIGHBORHOOD, 15,
      0 },
  { "max-lines", "Maximum lines",
      "Most lines to publish for a frame, those with the most votes (0 = all, "
      "up to 4096)",
      AT (max_lines), G_TYPE_UINT, NULL, 0, CUV_HOUGH_MAX_LINES, 100, 0 },
  { "segments", "Segments", "Publish the pieces of lines that have edges",
      AT (segments), G_TYPE_BOOLEAN, NULL, 0, 1, FALSE, 0 },
  { "min-length", "Minimum length", "Least length of a segment, pixels",
      AT (min_length), G_TYPE_UINT, NULL, 0, 2 * CUV_HOUGH_MAX_SIZE, 30, 0 },
  { "max-gap", "Maximum gap", "Pixels without an edge that a segment may span",
      AT (max_gap), G_TYPE_UINT, NULL, 0, CUV_HOUGH_MAX_SIZE, 5, 0 },
  { "draw", "Draw", "What to draw over the frame", AT (draw), 0, draw_get_type,
      0, 0, CUV_HOUGH_DRAW_NONE, 0 },
};

gpointer
gst_hough_property_place (GstHoughValues *values, guint id)
{
  return id < GST_HOUGH_PROP_FIRST
      ? NULL
      : G_STRUCT_MEMBER_P (
          values, properties[id - GST_HOUGH_PROP_FIRST].offset);
}

void
gst_hough_properties_reset (GstHoughValues *values)
{
  *values = (GstHoughValues){ 0 };
  gst_cuv_properties_reset (properties, G_N_ELEMENTS (properties), values);
}

void
gst_hough_properties_install (GObjectClass *klass)
{
  gst_cuv_properties_install (
      klass, properties, G_N_ELEMENTS (properties), GST_HOUGH_PROP_FIRST);
  g_object_class_install_property (klass, GST_HOUGH_PROP_ROI,
      g_param_spec_string ("roi", "Region of interest",
          "Part of the frame to look at: left,top,right,bottom in pixels, "
          "right and bottom exclusive (default: all)",
          NULL, GST_CUV_PARAM_LIVE));
}
