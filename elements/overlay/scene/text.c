/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scene/text.h"

#include <pango/pangocairo.h>
#include <string.h>

#define MAX_FONT_PIXELS 256

/* A cached mask. */
typedef struct {
  char *text; /* NULL: unused entry */
  guint hash;
  int pixels, max_width;
  guint64 used; /* time of the last use */
  cairo_surface_t *surface;
  CuvTextMask mask;
} Entry;

struct _CuvText {
  PangoFontMap *fonts;
  PangoContext *context;
  PangoLayout *layout;
  char *font;
  int pixels;
  guint64 clock;
  Entry entries[CUV_TEXT_MAX_MASKS];
};

static void
clear_entry (Entry *entry)
{
  g_clear_pointer (&entry->text, g_free);
  g_clear_pointer (&entry->surface, cairo_surface_destroy);
}

static void
clear_entries (CuvText *self)
{
  for (int i = 0; i < CUV_TEXT_MAX_MASKS; i++)
    clear_entry (&self->entries[i]);
}

/* Uses a font map of its own: Pango's default one belongs to one thread. */
CuvText *
cuv_text_new (void)
{
  CuvText *self = g_new0 (CuvText, 1);
  cairo_font_options_t *options = cairo_font_options_create ();

  self->fonts = pango_cairo_font_map_new ();
  self->context = pango_font_map_create_context (self->fonts);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options (self->context, options);
  cairo_font_options_destroy (options);
  self->layout = pango_layout_new (self->context);
  pango_layout_set_single_paragraph_mode (self->layout, TRUE);
  return self;
}

void
cuv_text_free (CuvText *self)
{
  if (self == NULL)
    return;
  clear_entries (self);
  g_free (self->font);
  g_object_unref (self->layout);
  g_object_unref (self->context);
  g_object_unref (self->fonts);
  g_free (self);
}

/* ---- fonts ---- */

/* Returns the size in pixels, 0 if the description has none. A point is 4/3
 * pixels. */
static double
font_pixels (const PangoFontDescription *description)
{
  double size = pango_font_description_get_size (description);

  if (!(pango_font_description_get_set_fields (description)
          & PANGO_FONT_MASK_SIZE))
    return 0;
  return pango_font_description_get_size_is_absolute (description)
      ? size / PANGO_SCALE
      : size / PANGO_SCALE * 4 / 3;
}

const char *
cuv_text_font_problem (const char *font)
{
  PangoFontDescription *description;
  double pixels;

  if (!g_utf8_validate (font, -1, NULL))
    return "it is not UTF-8";
  description = pango_font_description_from_string (font);
  pixels = font_pixels (description);
  pango_font_description_free (description);
  return pixels > MAX_FONT_PIXELS ? "its size is above 256 pixels (192 points)"
                                  : NULL;
}

void
cuv_text_set_font (CuvText *self, const char *font, int pixels)
{
  self->pixels = pixels;
  if (g_strcmp0 (self->font, font) == 0)
    return;
  clear_entries (self);
  g_free (self->font);
  self->font = g_strdup (font);
}

/* ---- rendering ---- */

static void
apply_font (CuvText *self)
{
  PangoFontDescription *description =
      pango_font_description_from_string (self->font);
  double size = font_pixels (description);

  if (size <= 0)
    size = self->pixels;
  pango_font_description_set_absolute_size (
      description, CLAMP (size, 1, MAX_FONT_PIXELS) * PANGO_SCALE);
  pango_layout_set_font_description (self->layout, description);
  pango_font_description_free (description);
}

static void
lay_out_text (
    CuvText *self, const char *text, int max_width, PangoRectangle *box)
{
  char *valid = g_utf8_make_valid (text, -1);
  PangoRectangle ink;
  int right;

  if (g_utf8_strlen (valid, -1) > CUV_TEXT_MAX_LENGTH)
    *g_utf8_offset_to_pointer (valid, CUV_TEXT_MAX_LENGTH) = '\0';
  pango_layout_set_width (self->layout, -1);
  pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_NONE);
  pango_layout_set_text (self->layout, valid, -1);
  pango_layout_get_pixel_extents (self->layout, &ink, box);
  if (box->width > max_width) {
    pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_MIDDLE);
    pango_layout_set_width (self->layout, max_width * PANGO_SCALE);
    pango_layout_get_pixel_extents (self->layout, &ink, box);
  }
  /* slanted letters extend beyond the logical box */
  right = MAX (box->x + box->width, ink.x + ink.width);
  box->x = MIN (box->x, ink.x);
  box->width = MIN (right - box->x, max_width);
  g_free (valid);
}

static gboolean
render (CuvText *self, const char *text, int max_width, Entry *entry)
{
  PangoRectangle box;
  cairo_t *cairo;
  gboolean ok;

  apply_font (self);
  lay_out_text (self, text, max_width, &box);
  if (box.width <= 0 || box.height <= 0)
    return FALSE;
  entry->surface =
      cairo_image_surface_create (CAIRO_FORMAT_A8, box.width, box.height);
  cairo = cairo_create (entry->surface);
  cairo_set_source_rgba (cairo, 1, 1, 1, 1);
  cairo_move_to (cairo, -box.x, -box.y);
  pango_cairo_show_layout (cairo, self->layout);
  ok = cairo_status (cairo) == CAIRO_STATUS_SUCCESS;
  cairo_destroy (cairo);
  cairo_surface_flush (entry->surface);
  entry->mask = (CuvTextMask){ .width = box.width,
    .height = box.height,
    .stride = (size_t) cairo_image_surface_get_stride (entry->surface),
    .coverage = cairo_image_surface_get_data (entry->surface) };
  return ok && entry->mask.coverage != NULL;
}

CuvTextMask *
cuv_text_render (CuvText *self, const char *text, int max_width)
{
  guint hash = g_str_hash (text);
  Entry *oldest = &self->entries[0];

  max_width = CLAMP (max_width, 1, CUV_TEXT_MAX_WIDTH);
  for (int i = 0; i < CUV_TEXT_MAX_MASKS; i++) {
    Entry *entry = &self->entries[i];

    if (entry->text != NULL && entry->hash == hash
        && entry->pixels == self->pixels && entry->max_width == max_width
        && strcmp (entry->text, text) == 0) {
      entry->used = ++self->clock;
      return &entry->mask;
    }
    if (oldest->text != NULL
        && (entry->text == NULL || entry->used < oldest->used))
      oldest = entry;
  }
  clear_entry (oldest);
  if (!render (self, text, max_width, oldest)) {
    clear_entry (oldest);
    return NULL;
  }
  oldest->text = g_strdup (text);
  oldest->hash = hash;
  oldest->pixels = self->pixels;
  oldest->max_width = max_width;
  oldest->used = ++self->clock;
  return &oldest->mask;
}
