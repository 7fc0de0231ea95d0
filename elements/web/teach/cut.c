/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "teach/cut.h"

#include <math.h>
#include <turbojpeg.h>

static gchar *
describe_jpeg (tjhandle handle)
{
  return g_strdup_printf (
      "the picture cannot be read: %s", tjGetErrorStr2 (handle));
}

/* Extends a span of the JPEG to whole blocks, as far as it has them. */
static void
align_to_blocks (
    gdouble first, gdouble last, gint block, gint limit, gint *at, gint *n)
{
  *at = MIN ((gint) floor (first), limit - 1) / block * block;
  *n = MIN (((gint) ceil (last) + block - 1) / block * block, limit) - *at;
}

gchar *
cuv_teach_place (CuvTeachPlace *self, gconstpointer jpeg, gsize size,
    gint frame_width, gint frame_height, const CuvTeachBox *part)
{
  tjhandle handle = tjInitDecompress ();
  gchar *problem = NULL;
  gint width, height, sampling, colours;

  if (tjDecompressHeader3 (
          handle, jpeg, size, &width, &height, &sampling, &colours)
      != 0)
    problem = describe_jpeg (handle);
  tjDestroy (handle);
  if (problem != NULL)
    return problem;
  *self = (CuvTeachPlace){ frame_width, frame_height, 0, 0, width, height,
    (gdouble) width / frame_width, (gdouble) height / frame_height };
  if (part->width > 0) {
    align_to_blocks (part->x * self->scale_x,
        (part->x + part->width) * self->scale_x, tjMCUWidth[sampling], width,
        &self->x, &self->width);
    align_to_blocks (part->y * self->scale_y,
        (part->y + part->height) * self->scale_y, tjMCUHeight[sampling], height,
        &self->y, &self->height);
  }
  return NULL;
}

guint8 *
cuv_teach_cut (const CuvTeachPlace *self, gconstpointer jpeg, gsize size,
    gulong *cut_size, gchar **problem)
{
  tjtransform transform = {
    .r = { self->x, self->y, self->width, self->height }, .options = TJXOPT_CROP
  };
  tjhandle handle = tjInitTransform ();
  guint8 *cut = NULL;

  *cut_size = 0;
  *problem = NULL;
  if (tjTransform (handle, jpeg, size, 1, &cut, cut_size, &transform, 0) != 0) {
    *problem = describe_jpeg (handle);
    tjFree (cut);
    cut = NULL;
  }
  tjDestroy (handle);
  return cut;
}

/* Rounds to quarters, which are exact in JSON. */
static gdouble
quarter (gdouble value)
{
  return rint (value * 4) / 4;
}

static void
place_span (gdouble at, gdouble n, gdouble scale, gint origin, gint limit,
    gdouble *to, gdouble *to_n)
{
  const gdouble first = CLAMP (at * scale - origin, 0, limit);
  const gdouble last = CLAMP ((at + n) * scale - origin, 0, limit);

  *to = quarter (first);
  *to_n = quarter (last) - *to;
}

CuvTeachBox
cuv_teach_place_box (const CuvTeachPlace *self, const CuvTeachBox *box)
{
  CuvTeachBox placed;

  place_span (box->x, box->width, self->scale_x, self->x, self->width,
      &placed.x, &placed.width);
  place_span (box->y, box->height, self->scale_y, self->y, self->height,
      &placed.y, &placed.height);
  return placed;
}
