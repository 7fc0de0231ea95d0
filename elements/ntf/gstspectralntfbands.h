/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bands of a cube that are factorised: all that are not bad. */
#ifndef GST_SPECTRAL_NTF_BANDS_H
#define GST_SPECTRAL_NTF_BANDS_H

#include "spectral/gstcuvspectralinfo.h"
#include "ntf-maker.h"

G_BEGIN_DECLS

typedef struct {
  gint n; /* good bands */
  gint n_runs;
  struct {
    gint first, n;
  } runs[CUV_CUBE_MAX_BANDS]; /* of good ones next to each other */
  const gdouble *ignore;      /* of the info, or NULL */
} GstNtfBands;

/* The info must outlive it. */
void gst_ntf_bands_init (GstNtfBands *self, const GstCuvSpectralInfo *info);

/* As cuv_ntf_maker_scan() and cuv_ntf_maker_load() from depth 0 on; bands of a
 * scan are the cube's. */
gboolean gst_ntf_bands_scan (const GstNtfBands *self, CuvNtfMaker *maker,
    const CuvCube *cube, gint n_threads, CuvNtfScan *scan);
gboolean gst_ntf_bands_load (const GstNtfBands *self, CuvNtfMaker *maker,
    const CuvCube *cube, gdouble scale, gint n_threads);

G_END_DECLS

#endif
