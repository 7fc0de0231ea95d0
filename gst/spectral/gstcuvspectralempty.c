/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spectral/gstcuvspectralempty.h"

#include <math.h>

#define MAX_NAMED 12 /* maximum number of bands named in a message */

/* The good bands without a valid sample so far. */
typedef struct {
  const GstCuvSpectralInfo *info;
  gint bands[CUV_CUBE_MAX_BANDS];
  gint n;
} Search;

static gboolean
is_valid (const GstCuvSpectralInfo *info, gdouble sample)
{
  const gdouble ignore = info->format == CUV_CUBE_F32
      ? (gdouble) (gfloat) info->ignore
      : info->ignore;

  return isfinite (sample) && !(info->has_ignore && sample == ignore);
}

static void
search_pixel (Search *self, const CuvCube *cube, const guint8 *pixel)
{
  gint n = 0;

  for (gint i = 0; i < self->n; i++) {
    const gint band = self->bands[i];

    if (!is_valid (
            self->info, cuv_cube_sample (cube, pixel + band * cube->band_step)))
      self->bands[n++] = band;
  }
  self->n = n;
}

/* Ends when each band has a valid sample, usually after one pixel. */
static void
search_cube (Search *self, const CuvCube *cube)
{
  for (gint y = 0; y < cube->height && self->n > 0; y++)
    for (gint x = 0; x < cube->width && self->n > 0; x++)
      search_pixel (
          self, cube, cube->data + y * cube->row_step + x * cube->pixel_step);
}

/* Returns "Bands 1, 2, 7". */
static GString *
name_bands (const Search *self)
{
  GString *text = g_string_new (self->n > 1 ? "Bands" : "Band");

  for (gint i = 0; i < MIN (self->n, MAX_NAMED); i++)
    g_string_append_printf (
        text, "%s %d", i > 0 ? "," : "", self->bands[i] + 1);
  if (self->n > MAX_NAMED)
    g_string_append_printf (text, " and %d others", self->n - MAX_NAMED);
  return text;
}

static void
append_invalid (GString *text, const GstCuvSpectralInfo *info)
{
  if (info->has_ignore)
    g_string_append_printf (text, "the ignore value %g, ", info->ignore);
  g_string_append (text, "NaN or infinity");
}

static gchar *
describe_empty (const Search *self)
{
  GString *text = name_bands (self);

  g_string_append_printf (text, " (counted from 1) %s no valid sample, only ",
      self->n > 1 ? "have" : "has");
  append_invalid (text, self->info);
  g_string_append_printf (text,
      ", and %s left out: set %s to 0 in bbl of the ENVI header, or list %s in "
      "bad-bands of the caps",
      self->n > 1 ? "are" : "is", self->n > 1 ? "them" : "it",
      self->n > 1 ? "them" : "it");
  if (self->info->has_ignore)
    g_string_append (text,
        "; if these are measurements, correct data ignore "
        "value");
  return g_string_free (text, FALSE);
}

gboolean
gst_cuv_spectral_info_mark_empty (
    GstCuvSpectralInfo *info, const CuvCube *cube, gchar **warning)
{
  Search self = { .info = info };
  gint n_good;

  *warning = NULL;
  if (info->format != CUV_CUBE_F32 && !info->has_ignore)
    return TRUE;
  for (gint b = 0; b < info->bands; b++)
    if (!info->bad[b])
      self.bands[self.n++] = b;
  n_good = self.n;
  search_cube (&self, cube);
  if (self.n == n_good)
    return FALSE;
  if (self.n > 0)
    *warning = describe_empty (&self);
  for (gint i = 0; i < self.n; i++)
    info->bad[self.bands[i]] = TRUE;
  return TRUE;
}

gchar *
gst_cuv_spectral_info_nothing_valid (const GstCuvSpectralInfo *info)
{
  GString *text = g_string_new ("A frame has no valid pixel: each has ");

  append_invalid (text, info);
  g_string_append (text,
      " in at least one band, and is left out. If that is unexpected, set "
      "bands without measurements to 0 in bbl of the ENVI header, or correct "
      "data ignore value");
  return g_string_free (text, FALSE);
}
