/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "style.h"

#include "gstcolor.h"
#include "overlay/fill-types.h"
#include "scene/text.h"

typedef struct {
  GHashTable *table;
  gchar *problem;
} TableParser;

static gboolean
parse_color (GQuark field, const GValue *value, gpointer data)
{
  TableParser *parser = data;
  gchar *text;
  guint argb;

  if (gst_cuv_color_from_value (value, &argb)) {
    g_hash_table_insert (parser->table, g_strdup (g_quark_to_string (field)),
        GUINT_TO_POINTER (argb));
    return TRUE;
  }
  text = g_strdup_value_contents (value);
  parser->problem =
      g_strdup_printf ("%s is not a colour for %s; use " GST_CUV_COLOR_FORMS,
          text, g_quark_to_string (field));
  g_free (text);
  return FALSE;
}

/* Replaces the table by the structure's fields, converted by parse(). */
static gchar *
parse_structure (const GstStructure *structure, GstStructureForeachFunc parse,
    GHashTable **table)
{
  TableParser parser = {
    g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), NULL
  };

  g_clear_pointer (table, g_hash_table_unref);
  if (structure != NULL)
    gst_structure_foreach (structure, parse, &parser);
  *table = parser.table;
  return parser.problem;
}

static gchar *
parse_label_colors (gpointer settings)
{
  GstCuvStyle *style = settings;

  return parse_structure (
      style->label_colors_set, parse_color, &style->label_colors);
}

GST_CUV_DEFINE_ENUM (fill_get_type, "GstVisionOverlayFill",
    { CUV_OVERLAY_FILL_NONE, "Not hidden", "none" },
    { CUV_OVERLAY_FILL_SOLID, "One colour, fill-color", "solid" },
    { CUV_OVERLAY_FILL_BLUR, "Means of fill-cells cells, interpolated",
        "blur" },
    { CUV_OVERLAY_FILL_PIXELATE, "Means of fill-cells", "pixelate" })

GST_CUV_DEFINE_ENUM (fill_shape_get_type, "GstVisionOverlayFillShape",
    { GST_CUV_FILL_RECTANGLE, "The region's rectangle", "rectangle" },
    { GST_CUV_FILL_ELLIPSE, "An ellipse that contains the region", "ellipse" })

static gboolean
fill_from_value (const GValue *value, gint *fill)
{
  GEnumClass *klass = g_type_class_ref (fill_get_type ());
  const GEnumValue *found = NULL;

  if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value) != NULL)
    found = g_enum_get_value_by_nick (klass, g_value_get_string (value));
  else if (G_VALUE_HOLDS (value, fill_get_type ()))
    found = g_enum_get_value (klass, g_value_get_enum (value));
  if (found != NULL)
    *fill = found->value;
  g_type_class_unref (klass);
  return found != NULL;
}

static gboolean
parse_fill (GQuark field, const GValue *value, gpointer data)
{
  TableParser *parser = data;
  gchar *text;
  gint fill;

  if (fill_from_value (value, &fill)) {
    g_hash_table_insert (parser->table, g_strdup (g_quark_to_string (field)),
        GINT_TO_POINTER (fill));
    return TRUE;
  }
  text = g_strdup_value_contents (value);
  parser->problem = g_strdup_printf (
      "%s is not a fill for %s; use none, solid, blur or pixelate", text,
      g_quark_to_string (field));
  g_free (text);
  return FALSE;
}

static gchar *
parse_label_fills (gpointer settings)
{
  GstCuvStyle *style = settings;

  return parse_structure (
      style->label_fills_set, parse_fill, &style->label_fills);
}

CuvFillMode
gst_cuv_style_fill (const GstCuvStyle *style, GQuark quark)
{
  const gchar *label = quark != 0 ? g_quark_to_string (quark) : "";
  gpointer own;

  if (style->label_fills != NULL
      && g_hash_table_lookup_extended (style->label_fills, label, NULL, &own))
    return (CuvFillMode) GPOINTER_TO_INT (own);
  if (style->shown_labels != NULL
      && !g_hash_table_contains (style->shown_labels, label))
    return CUV_OVERLAY_FILL_NONE;
  return (CuvFillMode) style->fill;
}

gboolean
gst_cuv_style_hides (const GstCuvStyle *style)
{
  GHashTableIter iter;
  gpointer fill;

  if (style->fill != CUV_OVERLAY_FILL_NONE)
    return TRUE;
  if (style->label_fills == NULL)
    return FALSE;
  g_hash_table_iter_init (&iter, style->label_fills);
  while (g_hash_table_iter_next (&iter, NULL, &fill)) {
    if (GPOINTER_TO_INT (fill) != CUV_OVERLAY_FILL_NONE)
      return TRUE;
  }
  return FALSE;
}

static gchar *
gst_overlay_parse_labels (gpointer settings)
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

/* Makes a GParamSpec of the registered type that parses colour names. */
static GParamSpec *
make_color (void)
{
  GParamSpec *color = g_param_spec_uint ("color", "Colour",
      "Colour of what is drawn: a name such as red, #rgb, #rrggbb, #aarrggbb "
      "or "
      "0xaarrggbb (0 = a colour for each label)",
      0, G_MAXUINT32, 0, GST_CUV_PARAM_TUNABLE);

  color->value_type = GST_TYPE_CUV_COLOR;
  return color;
}

static GParamSpec *
make_fill_color (void)
{
  GParamSpec *color = g_param_spec_uint ("fill-color", "Fill colour",
      "Colour of fill=solid, in the format of color; alpha is ignored", 0,
      G_MAXUINT32, 0, GST_CUV_PARAM_TUNABLE);

  color->value_type = GST_TYPE_CUV_COLOR;
  return color;
}

#define AT(field) G_STRUCT_OFFSET (GstCuvStyle, field)

/**
 * GstVisionOverlay:draw-confidence:
 *
 * Write the confidence, in percent, if an object has one: that of the parameter
 * "detection", otherwise that of any other parameter.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:draw-ids:
 *
 * Write the id of a tracked object ("object_id", if above 0).
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:draw-shapes:
 *
 * Draw keypoints, and the rows of custom metadata that describe segments,
 * points or pictures. Pictures are not drawn while #GstVisionOverlay:fill or
 * #GstVisionOverlay:label-fills hides anything, as they may show what is
 * hidden.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:color:
 *
 * The colour 0xAARRGGBB of everything that label-colors does not name. 0
 * chooses a colour for each label, each kind of custom metadata and each
 * tracked object. An alpha of 0 counts as 255. In text, as for gst-launch-1.0
 * and presets, it can also be a name (CSS, X11), "#rgb", "#rrggbb" or
 * "#aarrggbb".
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:label-colors:
 *
 * A structure that maps labels (or kinds of custom metadata) to colours: text
 * as #GstVisionOverlay:color accepts, or an unsigned 0xAARRGGBB.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:thickness:
 *
 * Thickness of lines in pixels. 0 means 1 + 1/300 of the frame's height.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:font:
 *
 * A Pango font description. If it has no size, text has 1/36 of the frame's
 * height (names of pictures: 1/9 of the picture's height), but at least 11
 * pixels. The maximum size is 256 pixels.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:trail-length:
 *
 * The number of frames over which the path of a tracked object is drawn, as a
 * line through the centres of its boxes. Trails end at a flush, or if the
 * object is not seen for a second.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:fill:
 *
 * How regions are hidden: every pixel of a region becomes fill-color (solid) or
 * depends only on the means of some cells (blur, pixelate). Applies to the
 * labels that #GstVisionOverlay:labels selects; #GstVisionOverlay:label-fills
 * overrides it. #GstVisionOverlay:opacity and #GstVisionOverlay:draw-boxes do
 * not matter.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:label-fills:
 *
 * A structure that maps labels to none, solid, blur or pixelate. It overrides
 * #GstVisionOverlay:fill and #GstVisionOverlay:labels. Labels are
 * case-sensitive. One invalid entry makes the whole structure invalid: at the
 * start that is an error; while playing it is a warning, and the previous
 * structure stays in force.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:fill-margin:
 *
 * Margin that is hidden around a region, on each side, as a fraction of its
 * width and height.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:fill-shape:
 *
 * rectangle, or the ellipse inscribed in that rectangle. The ellipse always
 * contains the region, because its margin is at least 0.20711.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:fill-color:
 *
 * The colour of fill=solid, written as #GstVisionOverlay:color; always opaque.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:fill-cells:
 *
 * The number of cells of blur and pixelate across the longer side of a region,
 * margins included. Fewer hide more: with 1 both modes show one mean colour per
 * region. A cell is 8 x 8 pixels or larger.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:hold-regions:
 *
 * The number of frames for which a region that has disappeared stays hidden. 0
 * disables it. It has no effect without a fill. A flush ends it.
 *
 * Since: 0.1
 */
/**
 * GstVisionOverlay:stats:
 *
 * A structure with frames, drawn (frames drawn on), copied (frames that were
 * not writable), hidden (regions that were hidden), primitives, lost
 * (primitives beyond the limits), microseconds and microseconds-mean (for
 * frames drawn on), all guint64; and device (cuda or cpu).
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
      "Draw keypoints, and segments, points and pictures of custom metadata",
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
  { "labels", "Labels",
      "Labels of the regions to draw or to fill, separated by commas (empty = "
      "all)",
      .offset = AT (labels_set), .type = G_TYPE_STRING,
      .parse = gst_overlay_parse_labels },
  { "trail-length", "Trail length",
      "Number of frames that the trail of a tracked object covers (0 = no "
      "trails)",
      .offset = AT (trail_length), .type = G_TYPE_UINT, .maximum = 1000,
      .value = 30 },
  { "fill", "Fill", "How regions are hidden", .offset = AT (fill),
      .get_type = fill_get_type, .value = CUV_OVERLAY_FILL_NONE },
  { "label-fills", "Label fills",
      "Fills by label, case-sensitive, for example fills,face=blur,plate=solid",
      .offset = AT (label_fills_set), .get_type = gst_structure_get_type,
      .parse = parse_label_fills },
  { "fill-margin", "Fill margin",
      "Hidden margin on each side of a region, as a fraction of the region's "
      "size",
      .offset = AT (fill_margin), .type = G_TYPE_DOUBLE, .maximum = 2,
      .value = 0.25 },
  { "fill-shape", "Fill shape", "Shape of the hidden area",
      .offset = AT (fill_shape), .get_type = fill_shape_get_type,
      .value = GST_CUV_FILL_RECTANGLE },
  { "fill-color", .offset = AT (fill_color), .get_type = gst_cuv_color_get_type,
      .make_spec = make_fill_color },
  { "fill-cells", "Fill cells",
      "Number of cells along the longer side of a region (fill=blur or "
      "pixelate)",
      .offset = AT (fill_cells), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = CUV_OVERLAY_FILL_MAX_CELLS, .value = 1 },
  { "hold-regions", "Hold regions",
      "Number of frames for which a region that has disappeared stays hidden "
      "(0 = none)",
      .offset = AT (hold_regions), .type = G_TYPE_UINT, .maximum = 1000,
      .value = 10 },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = gst_vision_overlay_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (label_colors), g_hash_table_get_type },
  { AT (label_fills), g_hash_table_get_type },
  { AT (shown_labels), g_hash_table_get_type },
};

const GstCuvSettingsTable gst_cuv_style_settings = {
  GST_CUV_SETTINGS (GstCuvStyle, list),
  GST_CUV_OWNED_FIELDS (owned),
};
