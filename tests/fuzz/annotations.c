/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes are annotations whose boxes have an area, samples of the
 * announced size, names of classes, or an error. */
#include <stdint.h>
#include <stdlib.h>
#include "annotations.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check (const CuvAnnotated *picture)
{
  if (picture->path == NULL || picture->frame < -1 || picture->width < 0
      || (picture->width == 0) != (picture->height == 0))
    abort ();
  for (guint i = 0; i < picture->boxes->len; i++) {
    const CuvAnnotation *box =
        &g_array_index (picture->boxes, CuvAnnotation, i);

    if (!(box->width > 0) || !(box->height > 0) || box->label == NULL)
      abort ();
  }
}

static void
read_vec (const gchar *bytes, gsize size)
{
  GError *error = NULL;
  CuvVec vec;
  guint8 *pixels;

  if (!cuv_vec_parse (&vec, bytes, size, &error)) {
    if (error == NULL)
      abort ();
    g_error_free (error);
    return;
  }
  if (vec.n <= 0 || vec.n_pixels <= 0 || (gsize) vec.n_pixels > size)
    abort ();
  pixels = g_malloc ((gsize) vec.n_pixels);
  for (gint i = 0; i < vec.n; i++) {
    if (cuv_vec_sample (&vec, i, pixels, &error) != (error == NULL))
      abort ();
    g_clear_error (&error);
  }
  g_free (pixels);
}

static void
read_names (const gchar *bytes, gsize size)
{
  GError *error = NULL;
  gchar *text = cuv_annotations_decode (bytes, size, &error), **names = NULL;

  if ((text == NULL) != (error != NULL)
      || (text != NULL && !g_utf8_validate (text, -1, NULL)))
    abort ();
  if (text != NULL)
    names = cuv_annotations_names (text, &error);
  if ((names == NULL) != (error != NULL))
    abort ();
  g_strfreev (names);
  g_clear_error (&error);
  g_free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const gchar *const labels[] = { "cup", "dog", NULL };
  CuvAnnotations *self = cuv_annotations_new ();
  GError *error = NULL;

  if (cuv_annotations_parse (self, (const gchar *) data, size, labels, &error)
      != (error == NULL))
    abort ();
  for (guint i = 0; i < self->pictures->len; i++)
    check (self->pictures->pdata[i]);
  if (cuv_vec_recognise ((const gchar *) data, size))
    read_vec ((const gchar *) data, size);
  read_names ((const gchar *) data, size);
  g_clear_error (&error);
  cuv_annotations_free (self);
  return 0;
}
