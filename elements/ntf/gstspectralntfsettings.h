/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the user asks of spectralntf: a table of properties, and the parameters
 * that they come to. */
#ifndef GST_SPECTRAL_NTF_SETTINGS_H
#define GST_SPECTRAL_NTF_SETTINGS_H

#include <gst/gst.h>
#include "ntf/ntf-types.h"

G_BEGIN_DECLS

typedef enum {
  GST_NTF_SHOW_RECONSTRUCTION,
  GST_NTF_SHOW_RESIDUAL,
} GstNtfShow;

typedef enum {
  GST_NTF_BAD_ERROR,
  GST_NTF_BAD_CLAMP,
} GstNtfBadValues;

/* As the properties have them. */
typedef struct {
  gint rank, iterations;
  gdouble tolerance;
  gint algorithm, schedule, init; /* CuvNtfAlgorithm, .. */
  gint seed;                      /* a guint */
  gboolean normalise, reinit_dead;
  gdouble sparsity;
  gint window, hop;
  gint show;              /* GstNtfShow */
  gint bad_values;        /* GstNtfBadValues */
  gint progress_interval; /* ms */
} GstNtfValues;

CuvNtfParams gst_ntf_values_params (const GstNtfValues *self);

/* NULL, or which values contradict each other, and what to do. */
const gchar *gst_ntf_values_problem (const GstNtfValues *self);

void gst_ntf_values_reset (GstNtfValues *self);

/* Installs the properties, with ids from first on; where the value of one is.
 */
void gst_ntf_properties_install (GObjectClass *klass, guint first);
gpointer gst_ntf_property_place (GstNtfValues *self, guint nth);
guint gst_ntf_n_properties (void);

G_END_DECLS

#endif
