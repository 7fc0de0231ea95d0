/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include "gstvisionmotion.h"
#include "settings/gstcuvmetadata.h"

#define AT(field) G_STRUCT_OFFSET (GstVisionMotionSettings, field)
#define AVERAGE_ROWS 270 /* rows that averages need: docs/visionmotion.md */

GST_CUV_DEFINE_ENUM (method_get_type, "GstVisionMotionMethod",
    { CUV_MOTION_MOG2, "A mixture of Gaussians for each pixel", "mog2" },
    { CUV_MOTION_AVERAGE, "The average of each pixel", "average" })

CuvMotionConfig
gst_vision_motion_config (const GstVisionMotionSettings *self, gint height)
{
  const gint scale = self->method == CUV_MOTION_AVERAGE
      ? CLAMP (height / AVERAGE_ROWS, 1, CUV_MOTION_MAX_SCALE)
      : 1;

  return (CuvMotionConfig){ (CuvMotionMethod) self->method,
    self->color && self->method == CUV_MOTION_MOG2,
    self->scale > 0 ? self->scale : scale };
}

CuvMotionParams
gst_vision_motion_params (const GstVisionMotionSettings *self, guint n_learnt)
{
  const guint n = MIN (n_learnt, (guint) self->history) + 1;
  const gdouble mog2_rate = 1. / MIN (2 * n, (guint) self->history);
  const gdouble average_rate = MAX (self->rate, 1. / (n_learnt + 1.));
  CuvMotionParams params = { .average = { self->difference,
                                 (gint) (average_rate * 65536 + 0.5) },
    .opening = self->opening | 1,
    .closing = self->closing | 1 };

  cuv_mog2_params_init (&params.mog2);
  params.mog2.threshold = (gfloat) self->threshold;
  params.mog2.shadows = self->shadows;
  params.mog2_rate = cuv_mog2_rate (&params.mog2, mog2_rate);
  return params;
}

static gchar *
parse_mask (gpointer settings)
{
  GstVisionMotionSettings *self = settings;
  gchar *problem = NULL;

  if (self->mask != NULL)
    g_boxed_free (GST_TYPE_MOTION_MASK, self->mask);
  self->mask = NULL;
  if (self->mask_text != NULL && *self->mask_text != '\0')
    self->mask = gst_motion_mask_parse (self->mask_text, &problem);
  return problem;
}

static gchar *
vision_motion_check (gconstpointer settings)
{
  const GstVisionMotionSettings *self = settings;

  return gst_cuv_metadata_problem (self->metadata);
}

/**
 * GstVisionMotion:method:
 *
 * The model of the background: mog2, whose masks are those of OpenCV's
 * BackgroundSubtractorMOG2 on the CPU, or average, which needs less memory and
 * time.
 *
 * Since: 0.1
 */
/**
 * GstVisionMotion:color:
 *
 * Compare colours, in frames that have them: shadows then differ from dark
 * objects in colour. Without colours, shadows=true takes all that is
 * darker than the background for a shadow, down to half of its brightness.
 *
 * Since: 0.1
 */
/**
 * GstVisionMotion:mask:
 *
 * Polygons in which motion is ignored, as JSON: {"polygons": [[[0, 0], [0.5,
 * 0], [0.5, 0.1], [0, 0.1]]]}. Coordinates are from 0 to 1 of the frame's width
 * and height, or pixels with "units": "pixels". The background is also learnt
 * there.
 *
 * Since: 0.1
 */
/**
 * GstVisionMotion:padding:
 *
 * Enlarges the boxes, which a detector that searches them
 * (inference-region=roi-list) needs: its windows are larger than the objects.
 * Boxes that then overlap become one.
 *
 * Since: 0.1
 */
/**
 * GstVisionMotion:scale:
 *
 * Side of the squares of pixels that are averaged before the background is
 * subtracted. 0 is automatic: 1 for mog2; for average as much as leaves 270
 * rows.
 *
 * Since: 0.1
 */
/**
 * GstVisionMotion:scene-change:
 *
 * When a larger part of the frame than this moves, the light or the camera has
 * changed rather than something in the scene. No motion is published then, the
 * message and the table report a scene change, and the frame becomes the
 * background.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "method", "Method", "Model of the background", .offset = AT (method),
      .get_type = method_get_type },
  { "color", "Colour", "Compare colours instead of luma (method=mog2)",
      .offset = AT (color), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "scale", "Scale",
      "Side of the squares of pixels that are averaged first (0 = automatic: "
      "1, "
      "or with method=average as much as leaves 270 rows)",
      .offset = AT (scale), .type = G_TYPE_UINT,
      .maximum = CUV_MOTION_MAX_SCALE },
  { "history", "History",
      "Number of frames that the background is learnt from (method=mog2)",
      .offset = AT (history), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 1000000, .value = 500 },
  { "threshold", "Threshold",
      "Squared distance from the background at which a pixel moves, in "
      "variances (method=mog2)",
      .offset = AT (threshold), .type = G_TYPE_DOUBLE, .maximum = 1e6,
      .value = 16 },
  { "shadows", "Shadows",
      "Whether shadows are recognised, which do not count as motion "
      "(method=mog2)",
      .offset = AT (shadows), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "difference", "Difference",
      "Difference from the background at which a pixel moves, in grey levels "
      "(method=average)",
      .offset = AT (difference), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 255, .value = 25 },
  { "rate", "Rate", "Weight of a new frame in the background (method=average)",
      .offset = AT (rate), .type = G_TYPE_DOUBLE, .maximum = 1, .value = 0.05 },
  { "opening", "Opening",
      "Side of the square that moving areas must contain, in pixels after "
      "scale; even numbers are raised by 1 (1 = none)",
      .offset = AT (opening), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_MOTION_MAX_SIDE, .value = 3 },
  { "closing", "Closing",
      "Side of the square that gaps must contain to stay, in pixels after "
      "scale; even numbers are raised by 1 (1 = none)",
      .offset = AT (closing), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_MOTION_MAX_SIDE, .value = 5 },
  { "min-area", "Minimum area", "Minimum area of connected motion, in pixels",
      .offset = AT (min_area), .type = G_TYPE_UINT, .maximum = G_MAXINT,
      .value = 100 },
  { "merge-distance", "Merge distance",
      "Boxes with fewer pixels than this between them become one, if one is "
      "above the other or much smaller",
      .offset = AT (merge_distance), .type = G_TYPE_UINT, .maximum = 65536,
      .value = 8 },
  { "padding", "Padding",
      "Percentage of a box's longer side that is added on each side; boxes "
      "that then overlap become one",
      .offset = AT (padding), .type = G_TYPE_UINT,
      .maximum = CUV_MOTION_MAX_PADDING },
  { "scene-change", "Scene change",
      "Part of the frame above which motion is a change of light or camera "
      "(1 = never)",
      .offset = AT (scene_change), .type = G_TYPE_DOUBLE, .maximum = 1,
      .value = 0.5 },
  { "mask", "Mask",
      "Polygons in which motion is ignored, as JSON: "
      "{\"polygons\": [[[x, y], ...], ...]}",
      .offset = AT (mask_text), .type = G_TYPE_STRING, .parse = parse_mask },
  { "label", "Label", "Label of the objects", .offset = AT (label),
      .type = G_TYPE_STRING, .text = "motion" },
  GST_CUV_METADATA_SETTING (AT (metadata)),
};

static const GstCuvOwnedField owned[] = {
  { AT (mask), gst_motion_mask_get_type },
};

const GstCuvSettingsTable gst_vision_motion_settings = {
  GST_CUV_SETTINGS (GstVisionMotionSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = vision_motion_check,
};
