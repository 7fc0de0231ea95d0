/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstvisioncropsettings.h"

#include "crop.h"
#include "settings/gstcuvmetadata.h"

static gchar *
gst_vision_crop_parse_labels (gpointer settings)
{
  GstVisionCropSettings *self = settings;
  gchar *text;

  g_clear_pointer (&self->labels, g_strfreev);
  text = self->labels_text != NULL ? g_strstrip (g_strdup (self->labels_text))
                                   : NULL;
  if (text != NULL && *text != '\0')
    self->labels = g_strsplit (text, ",", -1);
  for (gchar **label = self->labels; label != NULL && *label != NULL; label++)
    g_strstrip (*label);
  g_free (text);
  return NULL;
}

static gchar *
gst_vision_crop_check (gconstpointer settings)
{
  const GstVisionCropSettings *self = settings;

  return gst_cuv_metadata_problem (self->metadata);
}

#define AT(field) G_STRUCT_OFFSET (GstVisionCropSettings, field)

/**
 * GstVisionCrop:width:
 *
 * Width of the pictures in pixels. 0: the width that downstream's caps demand;
 * if they demand none, it is computed from height and the object's aspect
 * ratio, or is the object's width if height is 0 as well.
 *
 * Since: 0.1
 */
/**
 * GstVisionCrop:height:
 *
 * Height of the pictures in pixels; 0 has the same meaning as for width.
 *
 * Since: 0.1
 */
/**
 * GstVisionCrop:add-borders:
 *
 * If width and height have another aspect ratio than the object: TRUE fills the
 * rest with black, FALSE stretches the object.
 *
 * Since: 0.1
 */
/**
 * GstVisionCrop:margin:
 *
 * Margin added to each side of the box, as a fraction of its width and height.
 * The picture ends at the frame's edge.
 *
 * Since: 0.1
 */
/**
 * GstVisionCrop:labels:
 *
 * Labels of the objects to crop, separated by commas; empty: any.
 *
 * Since: 0.1
 */
/**
 * GstVisionCrop:stats:
 *
 * A structure with frames, crops (pictures made), too-small and outside
 * (objects left out because they are too small or outside the frame), all
 * guint64.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "width", "Width",
      "Width of the pictures in pixels (0 = in proportion to height, or the "
      "object's width if height is 0, too)",
      .offset = AT (width), .type = G_TYPE_UINT, .maximum = CUV_CROP_MAX },
  { "height", "Height",
      "Height of the pictures in pixels (0 = in proportion to width, or the "
      "object's height if width is 0, too)",
      .offset = AT (height), .type = G_TYPE_UINT, .maximum = CUV_CROP_MAX },
  { "add-borders", "Add borders",
      "Keep the aspect ratio, with black borders, instead of stretching",
      .offset = AT (add_borders), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "margin", "Margin",
      "Margin on each side of the box, as a fraction of its width or height",
      .offset = AT (margin), .type = G_TYPE_DOUBLE, .maximum = 10 },
  { "min-size-width", "Minimum width",
      "Minimum width of objects in pixels (0 = any)", .offset = AT (min_width),
      .type = G_TYPE_UINT, .maximum = CUV_CROP_MAX },
  { "min-size-height", "Minimum height",
      "Minimum height of objects in pixels (0 = any)",
      .offset = AT (min_height), .type = G_TYPE_UINT, .maximum = CUV_CROP_MAX },
  { "labels", "Labels",
      "Labels of the objects to crop, separated by commas (empty = any)",
      .offset = AT (labels_text), .type = G_TYPE_STRING,
      .parse = gst_vision_crop_parse_labels },
  GST_CUV_METADATA_SETTING (AT (metadata)),
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_vision_crop_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (labels), g_strv_get_type },
};

const GstCuvSettingsTable gst_vision_crop_settings = {
  GST_CUV_SETTINGS (GstVisionCropSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = gst_vision_crop_check,
};
