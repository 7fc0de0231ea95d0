/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strips: the pictures of a table side by side along the frame's lower edge. */
#include "scene/scene-private.h"

#include <math.h>
#include <string.h>

#define PAD 2         /* pixels on either side of a similarity's text */
#define MAX_ROWS 1000 /* maximum number of rows of a table that are drawn */

typedef struct {
  const GstCuvTable *table;
  const guint8 *pictures;
  guint n_rows;
  gint region, name, similarity; /* indices of columns; -1: none */
  gint columns, rows, scale;     /* pixels of a picture, and magnification */
  gint width, height;            /* size of a picture as drawn */
  gint cell_width, cell_height;  /* size of a cell, including border and name */
  gint line;                     /* height of a name's line; 0: no names */
  gint digit;                    /* width of a digit of a name */
  gsize begin, end;              /* bytes that all names begin and end with */
  gint64 id;                     /* id of the region; -1: the whole frame */
  guint argb;
} Strip;

static gint64
region_of (const Strip *strip, guint row)
{
  return strip->region >= 0
      ? gst_cuv_table_int (strip->table, row, (guint) strip->region)
      : -1;
}

static gboolean
is_first_of_its_region (const Strip *strip, guint row)
{
  gint64 id = region_of (strip, row);

  for (guint i = 0; i < row; i++) {
    if (region_of (strip, i) == id)
      return FALSE;
  }
  return TRUE;
}

static guint
color_of (const GstCuvScene *scene, const Strip *strip)
{
  for (guint i = 0; i < scene->objects->len && strip->id >= 0; i++) {
    const GstCuvObject *object =
        &g_array_index (scene->objects, GstCuvObject, i);

    if (object->id == strip->id)
      return gst_cuv_scene_object_color (scene, object);
  }
  return gst_cuv_scene_color (scene, strip->table->kind, -1);
}

/* ---- names ---- */

/* Returns the last path component of a name, or NULL if there is none. */
static const gchar *
name_of (const Strip *strip, guint row)
{
  const gchar *name =
      gst_cuv_table_text (strip->table, row, (guint) strip->name);
  const gchar *slash = name != NULL ? strrchr (name, '/') : NULL;

  return slash != NULL && slash[1] != '\0' ? slash + 1 : name;
}

static gboolean
is_continuation (gchar byte)
{
  return (byte & 0xc0) == 0x80;
}

/* Shortens the common part so that characters and numbers stay whole. */
static void
keep_whole (Strip *strip, const gchar *name, gsize size)
{
  gsize *begin = &strip->begin, *end = &strip->end;

  while (*begin > 0
      && (is_continuation (name[*begin]) || g_ascii_isdigit (name[*begin - 1])))
    --*begin;
  while (*end > 0
      && (is_continuation (name[size - *end])
          || g_ascii_isdigit (name[size - *end])))
    --*end;
}

static gsize
common_begin (const gchar *a, const gchar *b, gsize most)
{
  gsize n = 0;

  while (n < most && a[n] == b[n])
    n++;
  return n;
}

/* Returns the number of equal bytes, up to `most`, before the ends a and b of
 * two texts. */
static gsize
common_end (const gchar *a, const gchar *b, gsize most)
{
  gsize n = 0;

  while (n < most && a[-1 - (gssize) n] == b[-1 - (gssize) n])
    n++;
  return n;
}

static const gchar *
name_or_empty (const Strip *strip, guint row)
{
  const gchar *name = name_of (strip, row);

  return name != NULL ? name : "";
}

/* Finds what all names have in common at their ends. Names that differ only in
 * the middle, as those of a camera's pictures, would look alike once cut. */
static void
compare_names (Strip *strip)
{
  const gchar *first = name_or_empty (strip, 0);
  const gsize size = strlen (first);
  gsize shortest = size, longest = size;

  strip->begin = strip->end = size;
  for (guint row = 1; row < strip->n_rows; row++) {
    const gchar *name = name_or_empty (strip, row);
    const gsize n = strlen (name);

    shortest = MIN (shortest, n);
    longest = MAX (longest, n);
    strip->begin = common_begin (name, first, MIN (strip->begin, n));
    strip->end = common_end (name + n, first + size, MIN (strip->end, n));
  }
  if (strip->begin == longest)
    strip->begin = shortest = 0; /* all names are the same */
  strip->end = MIN (strip->end, shortest - strip->begin);
  keep_whole (strip, first, size);
}

/* Renders the text shown for a name; if it is too long, the common parts are
 * left out. */
static CuvTextMask *
render_name (const GstCuvScene *scene, const Strip *strip, const gchar *name)
{
  gchar part[4 * CUV_TEXT_MAX_LENGTH];

  if (g_utf8_strlen (name, -1) * strip->digit > strip->width
      && strip->begin + strip->end > 0) {
    g_snprintf (part, sizeof part, "%s%.*s", strip->begin > 0 ? "…" : "",
        (int) (strlen (name) - strip->begin - strip->end), name + strip->begin);
    name = part;
  }
  return cuv_text_render (scene->text, name, strip->width);
}

/* ---- cells ---- */

/* Draws the name below the picture, cut to its width. */
static void
add_name (
    const GstCuvScene *scene, const Strip *strip, guint row, gint x, gint y)
{
  const gchar *name = name_of (strip, row);
  CuvTextMask *mask = NULL;

  if (name != NULL)
    mask = render_name (scene, strip, name);
  if (mask != NULL)
    gst_cuv_scene_add_text (
        scene, strip->argb, mask, x, y, strip->cell_width, strip->line);
  else
    cuv_drawing_rect (
        scene->drawing, strip->argb, x, y, strip->cell_width, strip->line, 0);
}

/* Draws the percentage in the picture's upper left corner. */
static void
add_similarity (
    const GstCuvScene *scene, const Strip *strip, guint row, gint x, gint y)
{
  gdouble similarity =
      gst_cuv_table_double (strip->table, row, (guint) strip->similarity);
  CuvTextMask *mask;
  gchar text[32];

  if (!(fabs (similarity) < 1e6))
    return;
  g_snprintf (text, sizeof text, "%ld%%", lrint (similarity * 100));
  mask = cuv_text_render (scene->text, text, strip->width - 2 * PAD);
  if (mask != NULL)
    gst_cuv_scene_add_text (scene, strip->argb, mask, x, y,
        mask->width + 2 * PAD, MIN (mask->height, strip->height));
}

static void
add_cell (
    const GstCuvScene *scene, const Strip *strip, guint row, gint x, gint y)
{
  gint border = scene->thickness, bordered = strip->height + 2 * border;

  cuv_drawing_rect (
      scene->drawing, strip->argb, x, y, strip->cell_width, bordered, border);
  cuv_drawing_picture (scene->drawing,
      (gint) lrint (255 * scene->style->opacity), x + border, y + border,
      strip->columns, strip->rows,
      strip->pictures + (gsize) 3 * strip->columns * strip->rows * row,
      strip->scale);
  if (strip->similarity >= 0)
    add_similarity (scene, strip, row, x + border, y + border);
  if (strip->line > 0)
    add_name (scene, strip, row, x, y + bordered);
}

/* ---- strips ---- */

/* Draws the rows of the strip's region from first on, until the frame's width
 * is used up; always draws the first one, clipped. */
static void
add_strip (GstCuvScene *scene, const Strip *strip, guint first)
{
  gint x = 0;

  scene->bottom -= strip->cell_height;
  for (guint row = first;
       row < strip->n_rows && (x == 0 || x + strip->cell_width <= scene->width);
       row++) {
    if (region_of (strip, row) != strip->id)
      continue;
    add_cell (scene, strip, row, x, scene->bottom);
    x += strip->cell_width + scene->thickness;
  }
  scene->bottom -= scene->thickness;
}

/* Whether another strip fits. The lowest strip is drawn in any case,
 * clipped. */
static gboolean
fits_above (const GstCuvScene *scene, const Strip *strip)
{
  return scene->bottom == scene->height || strip->cell_height <= scene->bottom;
}

/* Measures a digit and the height of a line of digits. Fallback fonts for other
 * scripts may be higher; their text is cut. */
static void
measure_digit (const GstCuvScene *scene, Strip *strip)
{
  const CuvTextMask *mask =
      cuv_text_render (scene->text, "0", CUV_TEXT_MAX_WIDTH);

  strip->line = mask != NULL ? mask->height : 0;
  strip->digit = mask != NULL ? mask->width : 0;
}

static void
measure_strip (const GstCuvScene *scene, Strip *strip)
{
  gint border = scene->thickness;

  strip->scale = CLAMP (
      MIN (scene->width / strip->columns, scene->height / 6 / strip->rows), 1,
      CUV_DRAWING_MAX_SCALE);
  strip->width = strip->columns * strip->scale;
  strip->height = strip->rows * strip->scale;
  cuv_text_set_font (
      scene->text, scene->style->font, MAX (11, strip->height / 9));
  if (strip->name >= 0) {
    measure_digit (scene, strip);
    compare_names (strip);
  }
  strip->cell_width = strip->width + 2 * border;
  strip->cell_height = strip->height + 2 * border + strip->line;
}

void
gst_cuv_scene_add_strips (GstCuvScene *self, const GstCuvTable *table)
{
  Strip strip = { .table = table,
    .n_rows = MIN (table->n_rows, MAX_ROWS),
    .region = gst_cuv_table_column (table, "region_id"),
    .name =
        self->style->draw_labels ? gst_cuv_table_column (table, "name") : -1,
    .similarity = self->style->draw_confidence
        ? gst_cuv_table_column (table, "similarity")
        : -1 };
  guint width, height;

  if (strcmp (table->shape, "pictures") != 0 || table->n_rows == 0)
    return;
  strip.pictures = gst_cuv_table_pictures (table, &width, &height);
  if (strip.pictures == NULL) {
    GST_DEBUG (
        "table %s is not drawn: it needs a picture for each row", table->kind);
    return;
  }
  strip.columns = (gint) width;
  strip.rows = (gint) height;
  measure_strip (self, &strip);
  for (guint row = 0; row < strip.n_rows && fits_above (self, &strip); row++) {
    if (!is_first_of_its_region (&strip, row))
      continue;
    strip.id = region_of (&strip, row);
    strip.argb = color_of (self, &strip);
    add_strip (self, &strip, row);
  }
}
