/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gsthoughlinessettings.h"

#include <math.h>

#include "hough.h"

#define AT(field) G_STRUCT_OFFSET (GstHoughLinesSettings, field)
#define AUTO_WINDOW 10 /* degrees: docs/houghlines.md, "Why these defaults" */

static gdouble
window_of (const GstHoughLinesSettings *self)
{
  if (self->orientation_window > 0)
    return self->orientation_window;
  return self->params.source == CUV_EDGES_INPUT
          || self->method == CUV_HOUGH_GATHER
      ? 90
      : AUTO_WINDOW;
}

CuvHoughConfig
gst_hough_lines_config (const GstHoughLinesSettings *self)
{
  gboolean pclines = self->method == GST_HOUGH_PCLINES;
  gint turn = self->theta_min >= 90 ? 180 : 0;
  CuvHoughConfig config = {
    .kind = pclines ? CUV_LINES_PCLINES : CUV_LINES_RHO_THETA,
    .width = 1,
    .height = 1,
    .period = pclines ? 2 * self->pclines_d
                      : (gint32) lrint (180 / self->theta_resolution),
    .theta_min = self->theta_min - turn,
    .theta_max = self->theta_max - turn,
    .rho_step = self->rho_resolution,
    .window = window_of (self),
    .lines_only = !self->params.segments,
  };

  return config;
}

CuvHoughParams
gst_hough_lines_params (const GstHoughLinesSettings *self)
{
  CuvHoughParams params = self->params;

  params.method =
      self->method == GST_HOUGH_PCLINES ? CUV_HOUGH_SHARED : self->method;
  params.peaks.neighborhood |= 1;
  if (params.max_lines == 0)
    params.max_lines = CUV_HOUGH_MAX_LINES;
  return params;
}

static gchar *
gst_hough_lines_check (gconstpointer settings)
{
  const GstHoughLinesSettings *self = settings;

  if (self->params.source == CUV_EDGES_CANNY
      && self->params.canny.low > self->params.canny.high)
    return g_strdup_printf ("canny-low %d is above canny-high %d: lower the "
                            "former or raise the latter",
        self->params.canny.low, self->params.canny.high);
  if (self->params.source == CUV_EDGES_INPUT && window_of (self) < 90)
    return g_strdup_printf (
        "orientation-window is %g, but edges=input has no edge directions: set "
        "orientation-window to 90 or edges to canny",
        self->orientation_window);
  if (self->method == CUV_HOUGH_GATHER && window_of (self) < 90)
    return g_strdup_printf (
        "orientation-window is %g, but method=gather does not use edge "
        "directions: set orientation-window to 90 or choose another method",
        self->orientation_window);
  return NULL;
}

gchar *
gst_hough_lines_check_config (const GstHoughLinesSettings *self)
{
  CuvHoughConfig config = gst_hough_lines_config (self);
  CuvHoughLayout layout;
  const gchar *problem;

  if (self->theta_max <= self->theta_min)
    return g_strdup_printf ("theta-max %g is not above theta-min %g: raise the "
                            "former or lower the latter",
        self->theta_max, self->theta_min);
  if (self->theta_max > self->theta_min + 180)
    return g_strdup_printf (
        "theta-max %g is more than 180 degrees above theta-min %g: lower "
        "theta-max; 180 degrees cover all lines",
        self->theta_max, self->theta_min);
  problem = cuv_hough_layout_init (&layout, &config);
  cuv_hough_layout_clear (&layout);
  if (problem == NULL)
    return NULL;
  return g_strdup_printf (
      "theta-min %g, theta-max %g: %s; set them further apart, or choose a "
      "finer theta-resolution (pclines-d with method=pclines)",
      self->theta_min, self->theta_max, problem);
}

/* Whether an angle looks like radians: a multiple of pi / 12 up to 2 pi. */
static gboolean
is_radians (gdouble angle)
{
  const gdouble steps = fabs (angle) * 12 / G_PI;

  return steps < 25 && fabs (steps - rint (steps)) < 0.02;
}

gchar *
gst_hough_lines_radians (const GstHoughLinesSettings *self)
{
  if (!is_radians (self->theta_min) || !is_radians (self->theta_max))
    return NULL;
  return g_strdup_printf (
      "theta-min %g and theta-max %g look like radians, but are degrees: set "
      "theta-min=%.0f theta-max=%.0f if radians were meant.",
      self->theta_min, self->theta_max, self->theta_min * 180 / G_PI,
      self->theta_max * 180 / G_PI);
}

GST_CUV_DEFINE_ENUM (method_get_type, "GstHoughMethod",
    { CUV_HOUGH_AUTO, "What is fastest for the frame", "auto" },
    { CUV_HOUGH_GLOBAL, "Each edge adds to the accumulator in memory",
        "global" },
    { CUV_HOUGH_SHARED, "Slices of a few rows in fast memory", "shared" },
    { CUV_HOUGH_GATHER, "Each cell counts its pixels, edges or not", "gather" },
    { CUV_HOUGH_RING, "A few rows at a time, and no accumulator", "ring" },
    { GST_HOUGH_PCLINES, "Lines in parallel coordinates, as shared",
        "pclines" })

const gchar *
gst_hough_lines_method_nick (gint method)
{
  GEnumClass *values = g_type_class_peek (method_get_type ());

  return g_enum_get_value (values, method)->value_nick;
}

GST_CUV_DEFINE_ENUM (edges_get_type, "GstHoughEdges",
    { CUV_EDGES_CANNY, "Those that Canny's detector finds", "canny" },
    { CUV_EDGES_INPUT, "All pixels of the frame that are not black", "input" })

GST_CUV_DEFINE_ENUM (norm_get_type, "GstHoughNorm",
    { CUV_CANNY_L1, "|gx| + |gy|", "l1" },
    { CUV_CANNY_L2, "The square root of gx^2 + gy^2", "l2" })

GST_CUV_DEFINE_ENUM (nms_get_type, "GstHoughNms",
    { CUV_PEAKS_ALL, "Every cell above the threshold is a line", "none" },
    { CUV_PEAKS_CROSS, "More votes than its four neighbours, as OpenCV",
        "cross" },
    { CUV_PEAKS_SQUARE, "The most votes of a square: neighborhood", "square" },
    { CUV_PEAKS_DOMINANT,
        "As square, and two thirds of the votes of any line nearby",
        "dominant" })

GST_CUV_DEFINE_ENUM (draw_get_type, "GstHoughDraw",
    { CUV_HOUGH_DRAW_NONE, "Leave the frame as it is", "none" },
    { CUV_HOUGH_DRAW_EDGES, "The edges, white on black", "edges" },
    { CUV_HOUGH_DRAW_ACCUMULATOR,
        "The votes, theta from left to right, rho downwards", "accumulator" })

static gchar *
parse_roi (gpointer settings)
{
  GstHoughLinesSettings *self = settings;

  return cuv_roi_parse (self->roi, &self->area) ? NULL
                                                : g_strdup (CUV_ROI_EXPECTED);
}

/**
 * GstHoughLines:method:
 *
 * All methods but pclines find the same lines and differ in time and memory
 * only. stats reports which method auto chose.
 *
 * Since: 0.1
 */
/**
 * GstHoughLines:orientation-window:
 *
 * 0 means 10 degrees, or 90 if the directions of edges are not known
 * (edges=input, method=gather). 90 gives the votes of OpenCV's HoughLines.
 *
 * Since: 0.1
 */
/**
 * GstHoughLines:theta-max:
 *
 * Finds lines whose normals are from theta-min to below theta-max, which may be
 * up to 180 degrees larger: 80 to 100 finds the lines within 10 degrees of the
 * horizontal. Results are always from -90 to below 90 degrees.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "method", "Method", "How votes are counted", .offset = AT (method),
      .get_type = method_get_type, .value = CUV_HOUGH_AUTO },
  { "edges", "Edges", "Source of the edges", .offset = AT (params.source),
      .get_type = edges_get_type, .value = CUV_EDGES_CANNY },
  { "canny-low", "Canny low threshold",
      "Gradient above which a pixel connected to an edge is also an edge",
      .offset = AT (params.canny.low), .type = G_TYPE_UINT, .maximum = 2040,
      .value = 20 },
  { "canny-high", "Canny high threshold",
      "Gradient above which a pixel is an edge",
      .offset = AT (params.canny.high), .type = G_TYPE_UINT, .maximum = 2040,
      .value = 40 },
  { "blur", "Blur", "Smooth the frame before edge detection",
      .offset = AT (params.canny.blur), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "norm", "Norm", "Norm of the gradient", .offset = AT (params.canny.norm),
      .get_type = norm_get_type, .value = CUV_CANNY_L1 },
  { "theta-resolution", "Theta resolution",
      "Angle between adjacent directions of lines, in degrees; 180 must be a "
      "multiple of it",
      .offset = AT (theta_resolution), .type = G_TYPE_DOUBLE, .minimum = 0.05,
      .maximum = 90, .value = 0.5 },
  { "theta-min", "Minimum theta",
      "Minimum angle of the lines' normals, in degrees (0 = vertical lines)",
      .offset = AT (theta_min), .type = G_TYPE_DOUBLE, .minimum = -90,
      .maximum = 90, .value = -90 },
  { "theta-max", "Maximum theta",
      "Upper limit (exclusive) for the angle of the lines' normals, in degrees",
      .offset = AT (theta_max), .type = G_TYPE_DOUBLE, .minimum = -90,
      .maximum = 270, .value = 90 },
  { "rho-resolution", "Rho resolution",
      "Distance between adjacent values of rho, in pixels",
      .offset = AT (rho_resolution), .type = G_TYPE_DOUBLE, .minimum = 1,
      .maximum = 100, .value = 1 },
  { "pclines-d", "PClines D",
      "Number of directions in 90 degrees (method=pclines)",
      .offset = AT (pclines_d), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_HOUGH_MAX_PERIOD / 2, .value = 128 },
  { "orientation-window", "Orientation window",
      "Maximum angle in degrees between an edge and the lines that it votes "
      "for (90 = all lines; 0 = automatic: 10 if edges have directions, "
      "otherwise 90)",
      .offset = AT (orientation_window), .type = G_TYPE_DOUBLE, .maximum = 90 },
  { "threshold", "Threshold",
      "Number of votes (edge pixels) that a line or a segment has to exceed (0 "
      "= automatic: an eighth of the frame's shorter side, at least 40, but no "
      "minimum for segments if edges have directions)",
      .offset = AT (params.peaks.threshold), .type = G_TYPE_UINT,
      .maximum = G_MAXINT },
  { "nms", "Non-maximum suppression",
      "How lines are selected from the cells above the threshold",
      .offset = AT (params.peaks.rule), .get_type = nms_get_type,
      .value = CUV_PEAKS_DOMINANT },
  { "neighborhood", "Neighborhood",
      "Side in cells of the square in which a line must have the most votes; "
      "even numbers are raised by 1 (nms=square or dominant)",
      .offset = AT (params.peaks.neighborhood), .type = G_TYPE_UINT,
      .minimum = 3, .maximum = CUV_HOUGH_MAX_NEIGHBORHOOD, .value = 7 },
  { "max-lines", "Maximum lines",
      "Maximum number of lines per frame, and of segments if edges have "
      "directions; those with the most votes are published (0 = all, up to "
      "4096)",
      .offset = AT (params.max_lines), .type = G_TYPE_UINT,
      .maximum = CUV_HOUGH_MAX_LINES },
  { "segments", "Segments", "Publish segments instead of whole lines",
      .offset = AT (params.segments), .type = G_TYPE_BOOLEAN },
  { "min-length", "Minimum length", "Minimum length of a segment, in pixels",
      .offset = AT (params.segment.min_length), .type = G_TYPE_UINT,
      .maximum = 2 * CUV_HOUGH_MAX_SIZE, .value = 10 },
  { "max-gap", "Maximum gap",
      "Maximum number of pixels without an edge that a segment may span",
      .offset = AT (params.segment.max_gap), .type = G_TYPE_UINT,
      .maximum = CUV_HOUGH_MAX_SIZE, .value = 5 },
  { "draw", "Draw", "What to draw over the frame", .offset = AT (draw),
      .get_type = draw_get_type, .value = CUV_HOUGH_DRAW_NONE },
  { "roi", "Region of interest",
      "Part of the frame to analyse: left,top,right,bottom in pixels, right "
      "and bottom exclusive (default: all)",
      .offset = AT (roi), .type = G_TYPE_STRING, .parse = parse_roi },
};

const GstCuvSettingsTable gst_hough_lines_settings = {
  GST_CUV_SETTINGS (GstHoughLinesSettings, list),
  .check = gst_hough_lines_check,
};
