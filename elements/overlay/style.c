/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "style.h"

#include "gstcolor.h"
#include "base/gstcuvfilter.h"
#include "scene/text.h"

#define DEFAULT_DRAW TRUE
#define DEFAULT_COLOR 0
#define DEFAULT_THICKNESS 0
#define MAX_THICKNESS 64
#define DEFAULT_FONT "Sans Bold"
#define DEFAULT_OPACITY 1.0
#define DEFAULT_TRAIL_LENGTH 30
#define MAX_TRAIL_LENGTH 1000

void
gst_cuv_style_copy (GstCuvStyle *out, const GstCuvStyle *in)
{
  *out = *in;
  out->font = g_ref_string_acquire (in->font);
  if (in->label_colors != NULL)
    g_hash_table_ref (in->label_colors);
  if (in->only != NULL)
    g_hash_table_ref (in->only);
}

void
gst_cuv_style_clear (GstCuvStyle *style)
{
  g_clear_pointer (&style->font, g_ref_string_release);
  g_clear_pointer (&style->label_colors, g_hash_table_unref);
  g_clear_pointer (&style->only, g_hash_table_unref);
}

typedef struct {
  GHashTable *table;
  gchar *problem;
} Parse;

static gboolean
parse_color (GQuark field, const GValue *value, gpointer data)
{
  Parse *parse = data;
  gchar *text;
  guint argb;

  if (gst_cuv_color_from_value (value, &argb)) {
    g_hash_table_insert (parse->table, g_strdup (g_quark_to_string (field)),
        GUINT_TO_POINTER (argb));
    return TRUE;
  }
  text = g_strdup_value_contents (value);
  parse->problem = g_strdup_printf (
      "label-colors: %s is not a colour for %s. Use " GST_CUV_COLOR_FORMS ".",
      text, g_quark_to_string (field));
  g_free (text);
  return FALSE;
}

static GHashTable *
parse_colors (const GstStructure *colors, gchar **problem)
{
  Parse parse = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    NULL };

  if (colors != NULL)
    gst_structure_foreach (colors, parse_color, &parse);
  if (parse.problem != NULL)
    g_clear_pointer (&parse.table, g_hash_table_unref);
  *problem = parse.problem;
  return parse.table;
}

static GHashTable *
parse_labels (const gchar *text)
{
  GHashTable *only =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gchar **labels = g_strsplit (text != NULL ? text : "", ",", -1);

  for (gchar **label = labels; *label != NULL; label++) {
    if (g_strstrip (*label)[0] != '\0')
      g_hash_table_add (only, g_strdup (*label));
  }
  g_strfreev (labels);
  if (g_hash_table_size (only) == 0)
    g_clear_pointer (&only, g_hash_table_unref);
  return only;
}

/* ---- properties ---- */

/* The field of a property that is stored as it is; NULL for the others. */
static gpointer
find_field (GstCuvStyle *style, guint id)
{
  switch (id) {
    case GST_CUV_STYLE_DRAW_BOXES:
      return &style->boxes;
    case GST_CUV_STYLE_DRAW_LABELS:
      return &style->labels;
    case GST_CUV_STYLE_DRAW_CONFIDENCE:
      return &style->confidence;
    case GST_CUV_STYLE_DRAW_IDS:
      return &style->ids;
    case GST_CUV_STYLE_DRAW_SHAPES:
      return &style->shapes;
    case GST_CUV_STYLE_COLOR:
      return &style->color;
    case GST_CUV_STYLE_THICKNESS:
      return &style->thickness;
    case GST_CUV_STYLE_OPACITY:
      return &style->opacity;
    case GST_CUV_STYLE_TRAIL_LENGTH:
      return &style->trail_length;
    default:
      return NULL;
  }
}

static gchar *
set_colors (GstCuvStyleSettings *self, const GstStructure *colors)
{
  gchar *problem = NULL;
  GHashTable *table = parse_colors (colors, &problem);

  if (table == NULL)
    return problem;
  g_clear_pointer (&self->style.label_colors, g_hash_table_unref);
  self->style.label_colors = table;
  g_clear_pointer (&self->label_colors, gst_structure_free);
  if (colors != NULL)
    self->label_colors = gst_structure_copy (colors);
  return NULL;
}

static gchar *
set_font (GstCuvStyleSettings *self, const gchar *font)
{
  const gchar *cause;

  if (font == NULL || font[0] == '\0')
    font = DEFAULT_FONT;
  cause = cuv_text_font_problem (font);
  if (cause != NULL)
    return g_strdup_printf ("font: cannot use \"%s\": %s. Use a Pango "
                            "description such as \"Sans Bold 18\".",
        font, cause);
  g_clear_pointer (&self->style.font, g_ref_string_release);
  self->style.font = g_ref_string_new (font);
  return NULL;
}

static gchar *
set_labels (GstCuvStyleSettings *self, const gchar *text)
{
  g_clear_pointer (&self->style.only, g_hash_table_unref);
  self->style.only = parse_labels (text);
  g_free (self->labels);
  self->labels = g_strdup (text);
  return NULL;
}

gchar *
gst_cuv_style_set (GstCuvStyleSettings *self, guint id, const GValue *value)
{
  gpointer field = find_field (&self->style, id);

  if (id == GST_CUV_STYLE_LABEL_COLORS)
    return set_colors (self, g_value_get_boxed (value));
  if (id == GST_CUV_STYLE_FONT)
    return set_font (self, g_value_get_string (value));
  if (id == GST_CUV_STYLE_LABELS)
    return set_labels (self, g_value_get_string (value));
  if (G_VALUE_HOLDS_BOOLEAN (value))
    *(gboolean *) field = g_value_get_boolean (value);
  else if (G_VALUE_HOLDS_UINT (value))
    *(guint *) field = g_value_get_uint (value);
  else
    *(gdouble *) field = g_value_get_double (value);
  return NULL;
}

void
gst_cuv_style_get (GstCuvStyleSettings *self, guint id, GValue *value)
{
  gpointer field = find_field (&self->style, id);

  if (id == GST_CUV_STYLE_LABEL_COLORS)
    /* GstPreset cannot write NULL */
    g_value_take_boxed (value,
        self->label_colors != NULL ? gst_structure_copy (self->label_colors)
                                   : gst_structure_new_empty ("colors"));
  else if (id == GST_CUV_STYLE_FONT)
    g_value_set_string (value, self->style.font);
  else if (id == GST_CUV_STYLE_LABELS)
    g_value_set_string (value, self->labels);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(gboolean *) field);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, *(guint *) field);
  else
    g_value_set_double (value, *(gdouble *) field);
}

void
gst_cuv_style_settings_init (GstCuvStyleSettings *self)
{
  GstCuvStyle *style = &self->style;

  *self = (GstCuvStyleSettings){ 0 };
  style->boxes = style->labels = style->confidence = DEFAULT_DRAW;
  style->ids = style->shapes = DEFAULT_DRAW;
  style->color = DEFAULT_COLOR;
  style->thickness = DEFAULT_THICKNESS;
  style->font = g_ref_string_new (DEFAULT_FONT);
  style->opacity = DEFAULT_OPACITY;
  style->trail_length = DEFAULT_TRAIL_LENGTH;
}

void
gst_cuv_style_settings_clear (GstCuvStyleSettings *self)
{
  gst_cuv_style_clear (&self->style);
  g_clear_pointer (&self->label_colors, gst_structure_free);
  g_clear_pointer (&self->labels, g_free);
}

static void
install_switches (GObjectClass *klass)
{
  /**
   * GstVisionOverlay:draw-boxes:
   *
   * Draw the outline of regions of interest.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_DRAW_BOXES,
      g_param_spec_boolean ("draw-boxes", "Draw boxes",
          "Draw the outline of regions of interest", DEFAULT_DRAW,
          GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:draw-labels:
   *
   * Write the label of a region of interest at its box.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_DRAW_LABELS,
      g_param_spec_boolean ("draw-labels", "Draw labels",
          "Write the label at its box", DEFAULT_DRAW, GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:draw-confidence:
   *
   * Write the confidence, in percent, where there is one: that of the
   * "detection" parameter, else of any.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_DRAW_CONFIDENCE,
      g_param_spec_boolean ("draw-confidence", "Draw confidence",
          "Write the confidence, in percent, at its box", DEFAULT_DRAW,
          GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:draw-ids:
   *
   * Write the id of a tracked object ("object_id", where > 0).
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_DRAW_IDS,
      g_param_spec_boolean ("draw-ids", "Draw ids",
          "Write the id of tracked objects at their box", DEFAULT_DRAW,
          GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:draw-shapes:
   *
   * Draw the rows of custom metadata that describe segments, points or
   * pictures.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_DRAW_SHAPES,
      g_param_spec_boolean ("draw-shapes", "Draw shapes",
          "Draw segments, points and pictures of custom metadata", DEFAULT_DRAW,
          GST_CUV_PARAM_LIVE));
}

static void
install_looks (GObjectClass *klass)
{
  GParamSpec *color;

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
  color = g_param_spec_uint ("color", "Colour",
      "red, #rgb, #rrggbb, #aarrggbb or 0xaarrggbb (default 0: one for each "
      "label)",
      0, G_MAXUINT32, DEFAULT_COLOR, GST_CUV_PARAM_TUNABLE);
  color->value_type = GST_TYPE_CUV_COLOR;
  g_object_class_install_property (klass, GST_CUV_STYLE_COLOR, color);
  /**
   * GstVisionOverlay:label-colors:
   *
   * A structure that maps labels (or kinds of custom metadata) to colours: text
   * as #GstVisionOverlay:color takes, or an unsigned 0xAARRGGBB.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_LABEL_COLORS,
      g_param_spec_boxed ("label-colors", "Label colours",
          "Colours by label: colors,face=red,car=(string)\"#ff8000\"",
          GST_TYPE_STRUCTURE, GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:thickness:
   *
   * Thickness of lines in pixels. 0 is 1 + height / 300 of the frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_THICKNESS,
      g_param_spec_uint ("thickness", "Thickness",
          "Thickness of lines in pixels (0 = by the frame's height)", 0,
          MAX_THICKNESS, DEFAULT_THICKNESS, GST_CUV_PARAM_TUNABLE));
  /**
   * GstVisionOverlay:font:
   *
   * A Pango font description. Without a size in it, text is 1/36 of the
   * frame's height (at pictures 1/9 of theirs), at least 11 pixels. Sizes up to
   * 256 pixels.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_FONT,
      g_param_spec_string ("font", "Font",
          "Pango font description; without a size, by the frame's height",
          DEFAULT_FONT, GST_CUV_PARAM_LIVE));
  /**
   * GstVisionOverlay:opacity:
   *
   * Opacity of everything drawn, 0 (invisible) to 1 (opaque).
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_OPACITY,
      g_param_spec_double ("opacity", "Opacity", "Opacity of everything drawn",
          0, 1, DEFAULT_OPACITY, GST_CUV_PARAM_TUNABLE));
  /**
   * GstVisionOverlay:trail-length:
   *
   * The number of frames over which the path of a tracked object is drawn, as a
   * line through the centres of its boxes. Trails end at a flush and when the
   * object is not seen for a second.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_TRAIL_LENGTH,
      g_param_spec_uint ("trail-length", "Trail length",
          "Frames that the trail of a tracked object goes back (0 = no trails)",
          0, MAX_TRAIL_LENGTH, DEFAULT_TRAIL_LENGTH, GST_CUV_PARAM_TUNABLE));
  /**
   * GstVisionOverlay:labels:
   *
   * Comma-separated labels of the regions of interest to draw; empty = all.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_STYLE_LABELS,
      g_param_spec_string ("labels", "Labels",
          "Labels to draw, comma separated (empty = all)", NULL,
          GST_CUV_PARAM_LIVE));
}

void
gst_cuv_style_install (GObjectClass *klass)
{
  install_switches (klass);
  install_looks (klass);
}
