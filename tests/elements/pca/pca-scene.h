/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synthetic cubes and shared code of the spectralpca tests. */
#ifndef PCA_SCENE_H
#define PCA_SCENE_H

#include "device.h"
#include "gstcuvmeta.h"
#include "spectral/gstcuvspectralinfo.h"

enum { WIDTH = 37, HEIGHT = 23, BANDS = 6 };

#define CUBE_CAPS                                                              \
  "video/x-spectral,format=U16LE,width=37,height=23,bands=6,"                  \
  "interleave=bil,framerate=30/1"

/* Returns a mixture of three spectra that varies over pixels and frames, plus
 * reproducible noise. */
guint16 pca_sample (gint x, gint y, gint b, guint frame);
GstBuffer *pca_cube_new (guint frame);

GstHarness *pca_harness_new (const gchar *line, const gchar *caps);
GstBuffer *pca_push (GstHarness *h, guint frame);
void pca_table_of (GstBuffer *buffer, GstCuvTable *table);
gdouble pca_number (const GValue *array, guint i);
void pca_check_same (GstBuffer *a, GstBuffer *b, gboolean same);

/* Pushes a buffer, which must fail with an error that contains the part. */
void pca_expect_error (
    const gchar *line, const gchar *caps, GstBuffer *buffer, const gchar *part);

#endif
