/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstspectralntfbands.h"

void
gst_ntf_bands_init (GstNtfBands *self, const GstCuvSpectralInfo *info)
{
  *self = (GstNtfBands){ .ignore = info->has_ignore ? &info->ignore : NULL };
  for (gint band = 0; band < info->bands; band++) {
    if (info->bad[band])
      continue;
    if (band == 0 || info->bad[band - 1])
      self->runs[self->n_runs++].first = band;
    self->runs[self->n_runs - 1].n++;
    self->n++;
  }
}

static CuvCube
cube_of_run (const GstNtfBands *self, const CuvCube *cube, gint i)
{
  CuvCube part = *cube;

  part.data += self->runs[i].first * cube->band_step;
  part.bands = self->runs[i].n;
  return part;
}

gboolean
gst_ntf_bands_scan (const GstNtfBands *self, CuvNtfMaker *maker,
    const CuvCube *cube, gint n_threads, CuvNtfScan *scan)
{
  *scan = (CuvNtfScan){ 0 };
  for (gint i = 0; i < self->n_runs; i++) {
    CuvCube part = cube_of_run (self, cube, i);
    CuvNtfScan found;

    if (!cuv_ntf_maker_scan (maker, &part, self->ignore, n_threads, &found))
      return FALSE;
    found.band += self->runs[i].first;
    cuv_ntf_scan_merge (scan, &found);
  }
  return TRUE;
}

gboolean
gst_ntf_bands_load (const GstNtfBands *self, CuvNtfMaker *maker,
    const CuvCube *cube, gdouble scale, gint n_threads)
{
  gint z = 0;

  for (gint i = 0; i < self->n_runs; i++) {
    CuvCube part = cube_of_run (self, cube, i);

    if (!cuv_ntf_maker_load (maker, &part, self->ignore, z, scale, n_threads))
      return FALSE;
    z += part.bands;
  }
  return TRUE;
}
