/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of spectralntf and their parameters. */
#ifndef GST_SPECTRAL_NTF_SETTINGS_H
#define GST_SPECTRAL_NTF_SETTINGS_H

#include "settings/gstcuvsettings.h"
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

typedef struct {
  CuvNtfParams params;
  gint rank, window, hop;
  gint show;              /* GstNtfShow */
  gint bad_values;        /* GstNtfBadValues */
  gint progress_interval; /* ms */
} GstNtfSettings;

extern const GstCuvSettingsTable gst_ntf_settings;

G_END_DECLS

#endif
