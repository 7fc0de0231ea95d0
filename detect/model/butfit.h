/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parser of BUT FIT's classifiers: butfit.c reads stages and
 * tables, butfit-features.c features. */
#ifndef CUV_MODEL_BUTFIT_H
#define CUV_MODEL_BUTFIT_H

#include "model/reader.h"

typedef struct {
  int type;            /* CuvFeature of all features; -1 = unknown */
  gboolean type_given; /* set by the attribute type */
  float threshold;     /* threshold of the current stage */
  /* table size required by the feature; 0 = no feature yet */
  int n_entries;
  GArray *table; /* float; table of the current weak hypothesis */
  CuvHaarNode haar;
  float min_std_dev;
} CuvButfit;

/* CuvBeginElement functions of features. begin_grid() and begin_haar() add a
 * node and set n_entries; begin_bins() is called before begin_haar(). */
void cuv_butfit_begin_grid (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_butfit_begin_bins (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_butfit_begin_haar (
    CuvModelReader *reader, const CuvTag *tag, GError **error);

/* Reorders a table from the file's codes to those of CuvFeature. */
void cuv_butfit_order_table (
    const CuvModelReader *reader, const float *in, float *out, guint n);

/* Returns FALSE with an error if the type is not supported. */
gboolean cuv_butfit_set_type (
    CuvButfit *self, const char *name, GError **error);

#endif
