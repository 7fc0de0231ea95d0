/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bands of a cube that are factorised: all that are not bad. */
#ifndef GST_SPECTRAL_NTF_BANDS_H
#define GST_SPECTRAL_NTF_BANDS_H

#include "ntf/ntf-types.h"
#include "spectral/gstcuvspectralinfo.h"

G_BEGIN_DECLS

typedef struct {
  gint n; /* good bands */
  gint n_runs;
  struct {
    gint first, n;
  } runs[CUV_CUBE_MAX_BANDS]; /* runs of adjacent good bands */
  const gdouble *ignore;      /* ignore value of the info, or NULL */
} GstNtfBands;

/* info must outlive self. */
void gst_ntf_bands_init (GstNtfBands *self, const GstCuvSpectralInfo *info);

/* Returns the sub-cube of a run of bands. */
CuvCube gst_ntf_bands_run (
    const GstNtfBands *self, const CuvCube *cube, gint i);

/* Returns FALSE after an element error about samples that cannot be factorised.
 */
gboolean gst_ntf_bands_check (GstElement *element, const CuvNtfScan *scan);

G_END_DECLS

#endif
