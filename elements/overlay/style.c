/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "style.h"

#include "gstcolor.h"
#include "scene/text.h"

typedef struct {
  GHashTable *table;
  gchar *problem;
} ColorParser;

static gboolean
parse_color (GQuark field, const GValue *value, gpointer data)
{
  ColorParser *parser = data;
  gchar *text;
  guint argb;

  if (gst_cuv_color_from_value (value, &argb)) {
    g_hash_table_insert (parser->table, g_strdup (g_quark_to_string (field)),
        GUINT_TO_POINTER (argb));
    return TRUE;
  }
  text = g_strdup_value_contents (value);
  parser->problem = g_strdup_printf (
      "%s, given for %s, is not a colour; use " GST_CUV_COLOR_FORMS, text,
      g_quark_to_string (field));
  g_free (text);
  return FALSE;
}

static gchar *
parse_label_colors (gpointer settings)
{
  GstCuvStyle *style = settings;
  ColorParser parser = {
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), NULL
  };

  g_clear_pointer (&style->label_colors, g_hash_table_unref);
  if (style->label_colors_set != NULL)
    gst_structure_foreach (style->label_colors_set, parse_color, &parser);
  style->label_colors = parser.table;
  return parser.problem;
}

static gchar *
parse_labels (gpointer settings)
{
  GstCuvStyle *style = settings;
  const gchar *text = style->labels_set;
  gchar **labels = g_strsplit (text != NULL ? text : "", ",", -1);

  g_clear_pointer (&style->shown_labels, g_hash_table_unref);
  for (gchar **label = labels; *label != NULL; label++) {
    if (g_strstrip (*label)[0] == '\0')
      continue;
    if (style->shown_labels == NULL)
      style->shown_labels =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add (style->shown_labels, g_strdup (*label));
  }
  g_strfreev (labels);
  return NULL;
}

static gchar *
parse_font (gpointer settings)
{
  const gchar *problem =
      cuv_text_font_problem (((const GstCuvStyle *) settings)->font);

  return problem != NULL ? g_strdup_printf (
             "%s; use a Pango description such as 'Sans Bold 18'", problem)
                         : NULL;
}

/* The type of the values parses colour names. */
static GParamSpec *
make_color (void)
{
  GParamSpec *color = g_param_spec_uint ("color", "Colour",
      "Colour of what is drawn: red, #rgb, #rrggbb, #aarrggbb or 0xaarrggbb (0 "
      "= a colour for each label)",
      0, G_MAXUINT32, 0, GST_CUV_PARAM_TUNABLE);

  color->value_type = GST_TYPE_CUV_COLOR;
  return color;
}

#define AT(field) G_STRUCT_OFFSET (GstCuvStyle, field)

/**
 * GstVisionOverlay:draw-confidence:
 *
 * Write the confidence, in percent, where there is one: that of the
 * "detection" parameter, else that of any other parameter.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:draw-ids:
 *
 * Write the id of a tracked object ("object_id", where > 0).
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:draw-shapes:
 *
 * Draw the rows of custom metadata that describe segments, points or
 * pictures.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:color:
 *
 * The colour 0xAARRGGBB of everything that label-colors does not name. 0
 * chooses one by label, by kind of custom metadata, and by id for tracked
 * objects. An alpha of 0 counts as 255. As text, in gst-launch-1.0 and
 * presets, also a name (CSS, X11), "#rgb", "#rrggbb" or "#aarrggbb".
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:label-colors:
 *
 * A structure that maps labels (or kinds of custom metadata) to colours: text
 * as #GstVisionOverlay:color takes, or an unsigned 0xAARRGGBB.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:thickness:
 *
 * Thickness of lines in pixels. 0 is 1 + height / 300 of the frame.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:font:
 *
 * A Pango font description. Without a size in it, text is 1/36 of the
 * frame's height (at pictures 1/9 of theirs), at least 11 pixels. Sizes up to
 * 256 pixels.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:trail-length:
 *
 * The number of frames over which the path of a tracked object is drawn, as a
 * line through the centres of its boxes. Trails end at a flush and when the
 * object is not seen for a second.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:stats:
 *
 * frames, drawn (frames drawn on), copied (frames that were not writable),
 * primitives, lost (primitives beyond the limits), microseconds and
 * microseconds-mean (of frames drawn on) as guint64; device (cuda or cpu).
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "draw-boxes", "Draw boxes", "Draw the outline of regions of interest",
      .offset = AT (draw_boxes), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "draw-labels", "Draw labels", "Write the label of each region at its box",
      .offset = AT (draw_labels), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "draw-confidence", "Draw confidence",
      "Write the confidence of each region, in percent, at its box",
      .offset = AT (draw_confidence), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "draw-ids", "Draw ids", "Write the id of tracked objects at their box",
      .offset = AT (draw_ids), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "draw-shapes", "Draw shapes",
      "Draw segments, points and pictures of custom metadata",
      .offset = AT (draw_shapes), .type = G_TYPE_BOOLEAN, .value = TRUE },
  { "color", .offset = AT (color), .get_type = gst_cuv_color_get_type,
      .make_spec = make_color },
  { "label-colors", "Label colours",
      "Colours by label, for example colors,face=red,car=(string)\"#ff8000\"",
      .offset = AT (label_colors_set), .get_type = gst_structure_get_type,
      .parse = parse_label_colors },
  { "thickness", "Thickness",
      "Thickness of lines in pixels (0 = derived from the frame's height)",
      .offset = AT (thickness), .type = G_TYPE_UINT, .maximum = 64 },
  { "font", "Font",
      "Pango font description; a missing size is derived from the frame's "
      "height",
      .offset = AT (font), .type = G_TYPE_STRING, .text = "Sans Bold",
      .parse = parse_font },
  { "opacity", "Opacity",
      "Opacity of everything drawn, 0 (invisible) to 1 (opaque)",
      .offset = AT (opacity), .type = G_TYPE_DOUBLE, .maximum = 1, .value = 1 },
  { "labels", "Labels", "Labels to draw, separated by commas (empty = all)",
      .offset = AT (labels_set), .type = G_TYPE_STRING, .parse = parse_labels },
  { "trail-length", "Trail length",
      "Number of frames that the trail of a tracked object goes back (0 = no "
      "trails)",
      .offset = AT (trail_length), .type = G_TYPE_UINT, .maximum = 1000,
      .value = 30 },
  { "stats", "Statistics", "Statistics of the element's work",
      .get_type = gst_structure_get_type, .get = gst_vision_overlay_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (label_colors), g_hash_table_get_type },
  { AT (shown_labels), g_hash_table_get_type },
};

const GstCuvSettingsTable gst_cuv_style_settings = {
  GST_CUV_SETTINGS (GstCuvStyle, list),
  GST_CUV_OWNED_FIELDS (owned),
};
