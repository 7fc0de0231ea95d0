/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstspectralreference.h"

#include <string.h>

G_DEFINE_BOXED_TYPE (GstSpectralReference, gst_spectral_reference,
    g_atomic_rc_box_acquire, gst_spectral_reference_unref)

static void
gst_spectral_reference_clear (gpointer self)
{
  gst_envi_file_clear (&((GstSpectralReference *) self)->file);
}

void
gst_spectral_reference_unref (GstSpectralReference *self)
{
  g_atomic_rc_box_release_full (self, gst_spectral_reference_clear);
}

GstSpectralReference *
gst_spectral_reference_open (const gchar *path, GError **error)
{
  GstSpectralReference *self = g_atomic_rc_box_new0 (GstSpectralReference);

  if (gst_envi_file_open (&self->file, path, error))
    return self;
  self->file.fd = -1;
  gst_spectral_reference_unref (self);
  return NULL;
}

gchar *
gst_spectral_reference_check (const GstSpectralReference *self,
    const gchar *name, const GstCuvSpectralInfo *info)
{
  const CuvEnvi *envi = &self->file.envi;

  if (envi->samples == info->width && envi->bands == info->bands)
    return NULL;
  return g_strdup_printf (
      "The %s reference has %d samples and %d bands, but the cubes have %d and "
      "%d: use one recorded with the same camera and binning",
      name, envi->samples, envi->bands, info->width, info->bands);
}

gboolean
gst_spectral_reference_is_whole (
    const GstSpectralReference *self, const GstCuvSpectralInfo *info)
{
  return self->file.envi.lines == info->height;
}

/* Converts a line; its bands are far apart in bsq files. */
static void
gst_spectral_reference_read_line (const GstEnviFile *file, gint y, guint8 *line)
{
  const CuvEnvi *envi = &file->envi;
  const gboolean is_bsq = envi->interleave == CUV_ENVI_BSQ;
  const gsize n_runs = is_bsq ? (gsize) envi->bands : 1;
  const gsize n = (gsize) envi->samples * (is_bsq ? 1 : (gsize) envi->bands);
  const gsize in_size = n * (gsize) cuv_envi_sample_size (envi->type);
  const gsize out_size =
      n * (gsize) cuv_cube_sample_size (cuv_envi_format (envi->type));
  const guint8 *from = g_bytes_get_data (file->samples, NULL);

  for (gsize i = 0; i < n_runs; i++)
    cuv_envi_convert (envi,
        from + (i * (gsize) envi->lines + (gsize) y) * in_size,
        line + i * out_size, n);
}

void
gst_spectral_reference_fill (
    const GstSpectralReference *self, CuvLevels *levels)
{
  const GstEnviFile *file = &self->file;
  const gint lines = file->envi.lines;
  const gboolean is_whole = levels->height == lines;
  const gsize n = (gsize) levels->width * (gsize) levels->bands;
  CuvLevelSum *sums = g_new0 (CuvLevelSum, n);
  guint8 *line = g_malloc (n * sizeof (gfloat));
  GstCuvSpectralInfo info;
  CuvCube cube;

  gst_envi_to_info (&file->envi, &info);
  info.height = 1;
  cube = gst_cuv_spectral_info_cube (&info, line);
  for (gint y = 0; y < lines; y++) {
    if (is_whole)
      memset (sums, 0, n * sizeof *sums);
    gst_spectral_reference_read_line (file, y, line);
    cuv_levels_add_line (&cube, info.has_ignore ? &info.ignore : NULL, sums);
    if (is_whole)
      cuv_levels_set_line (levels, y, sums);
  }
  for (gint y = 0; !is_whole && y < levels->height; y++)
    cuv_levels_set_line (levels, y, sums);
  g_free (line);
  g_free (sums);
}
