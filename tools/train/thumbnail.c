/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thumbnails of boxes for the report's page. */
#include "train-tool.h"

#include <cairo.h>
#include <math.h>

#include "data-uri.h"

#define SIDE 112   /* pixels */
#define AROUND 0.5 /* surroundings on either side, as a fraction of the box */

static guint32
colour_at (const CuvDatasetPicture *picture, gint x, gint y)
{
  const CuvFrame *frame = &picture->colours;
  guint32 colour = 0;

  if (frame->n_components == 0)
    return 0x10101u * cuv_frame_grey (&picture->grey, x, y);
  for (gint i = 0; i < frame->n_components; i++) {
    const CuvComponent *c = &frame->component[i];

    colour = colour << 8 | c->data[(gint64) y * c->stride + x * c->step];
  }
  return colour;
}

/* Returns a square of the picture, which is smaller at the picture's edges. */
static cairo_surface_t *
cut_square (const CuvDatasetPicture *picture, gint left, gint top, gint side)
{
  const gint width = CLAMP (picture->width - left, 1, side);
  const gint height = CLAMP (picture->height - top, 1, side);
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  guint8 *rows = cairo_image_surface_get_data (surface);
  const gint stride = cairo_image_surface_get_stride (surface);

  for (gint y = 0; rows != NULL && y < height; y++) {
    guint32 *row = (guint32 *) (void *) (rows + (gsize) y * (gsize) stride);

    for (gint x = 0; x < width; x++)
      row[x] = colour_at (picture, left + x, top + y);
  }
  cairo_surface_mark_dirty (surface);
  return surface;
}

static void
draw_thumbnail (
    cairo_t *cairo, const CuvDatasetPicture *picture, const CuvTrainBox *box)
{
  const gdouble side = fmax (box->width, box->height) * (1 + 2 * AROUND);
  const gdouble x = box->x + box->width / 2 - side / 2;
  const gdouble y = box->y + box->height / 2 - side / 2;
  const gint left = (gint) CLAMP (x, 0, picture->width - 1);
  const gint top = (gint) CLAMP (y, 0, picture->height - 1);
  cairo_surface_t *surface = cut_square (picture, left, top, (gint) side + 2);

  cairo_scale (cairo, SIDE / side, SIDE / side);
  cairo_translate (cairo, -x, -y);
  cairo_set_source_surface (cairo, surface, left, top);
  cairo_paint (cairo);
  cairo_set_source_rgb (cairo, 1, 0.8, 0);
  cairo_set_line_width (cairo, 1.5 * side / SIDE);
  cairo_rectangle (cairo, box->x, box->y, box->width, box->height);
  cairo_stroke (cairo);
  cairo_surface_destroy (surface);
}

gchar *
thumbnail_uri (const CuvDatasetBox *box)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, SIDE, SIDE);
  cairo_t *cairo = cairo_create (surface);
  gchar *uri = NULL;

  draw_thumbnail (cairo, box->picture, &box->box);
  if (cairo_status (cairo) == CAIRO_STATUS_SUCCESS)
    uri = png_data_uri (surface);
  cairo_destroy (cairo);
  cairo_surface_destroy (surface);
  return uri;
}
