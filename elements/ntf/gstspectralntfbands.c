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

CuvCube
gst_ntf_bands_run (const GstNtfBands *self, const CuvCube *cube, gint i)
{
  CuvCube part = *cube;

  part.data += self->runs[i].first * cube->band_step;
  part.bands = self->runs[i].n;
  return part;
}

gboolean
gst_ntf_bands_check (GstElement *element, const CuvNtfScan *scan)
{
  if (scan->n_negative + scan->n_not_finite == 0)
    return TRUE;
  GST_ELEMENT_ERROR (element, STREAM, WRONG_TYPE,
      ("A cube has %" G_GINT64_FORMAT " negative samples and %" G_GINT64_FORMAT
       " that are not finite, the first in pixel %d,%d of band %d (counted "
       "from 0): set bad-values=clamp to replace them by 0, or mark them by "
       "ignore-value or bad-bands in the caps.",
          scan->n_negative, scan->n_not_finite, scan->x, scan->y, scan->band),
      (NULL));
  return FALSE;
}
