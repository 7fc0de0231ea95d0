/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads .vec files of opencv_createsamples: a header of 12 bytes (int32 number
 * of samples, int32 pixels of a sample, two int16 that are 0), then for each
 * sample a byte and its pixels as int16; all of them little-endian. */
#include "annotations.h"

enum { HEADER = 12 };

static gint32
read_int32 (const guint8 *at)
{
  return (gint32) ((guint32) at[0] | (guint32) at[1] << 8
      | (guint32) at[2] << 16 | (guint32) at[3] << 24);
}

static guint64
sample_bytes (const CuvVec *self)
{
  return 1 + 2 * (guint64) self->n_pixels;
}

gboolean
cuv_vec_recognise (const gchar *bytes, gsize size)
{
  const guint8 *header = (const guint8 *) bytes;

  return size >= HEADER && read_int32 (header) > 0
      && read_int32 (header + 4) > 0 && read_int32 (header + 8) == 0;
}

gboolean
cuv_vec_parse (CuvVec *self, const gchar *bytes, gsize size, GError **error)
{
  const guint8 *header = (const guint8 *) bytes;
  guint64 n_there;

  if (!cuv_vec_recognise (bytes, size))
    return cuv_annotations_fail (error, "not a .vec file: invalid header");
  *self =
      (CuvVec){ read_int32 (header), read_int32 (header + 4), header + HEADER };
  n_there = (size - HEADER) / sample_bytes (self);
  if (n_there < (guint64) self->n)
    return cuv_annotations_fail (error,
        "the header announces %d samples of %d pixels, but only "
        "%" G_GUINT64_FORMAT " are in the file",
        self->n, self->n_pixels, n_there);
  return TRUE;
}

gboolean
cuv_vec_sample (const CuvVec *self, gint i, guint8 *pixels, GError **error)
{
  const guint8 *at = self->samples + (guint64) i * sample_bytes (self) + 1;

  for (gint k = 0; k < self->n_pixels; k++) {
    if (at[2 * k + 1] != 0)
      return cuv_annotations_fail (
          error, "sample %d: a pixel is outside 0 to 255", i);
    pixels[k] = at[2 * k];
  }
  return TRUE;
}
