/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two halves of the parser of BUT FIT's classifiers share:
 * model/butfit.c knows stages and tables, model/butfit-features.c features. */
#ifndef CUV_MODEL_BUTFIT_H
#define CUV_MODEL_BUTFIT_H

#include "model/reader.h"

enum {
  CUV_BUTFIT_STAGE = CUV_PLACE_FIRST,
  CUV_BUTFIT_HYPOTHESIS,
  CUV_BUTFIT_GRID, /* a feature of 3x3 blocks */
  CUV_BUTFIT_BINS, /* around a Haar feature */
  CUV_BUTFIT_HAAR,
};

typedef struct {
  int type;        /* CuvFeature of all features, -1 = not known yet */
  gboolean given;  /* by the attribute type */
  float threshold; /* of the stage that is read */
  int n_entries;   /* that its feature needs, 0 = no feature yet */
  GArray *table;   /* float, of its weak hypothesis */
  CuvHaarNode haar;
  float min_std_dev;
} CuvButfit;

/* Each adds a node and sets n_entries. */
void cuv_butfit_begin_grid (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_butfit_begin_bins (
    CuvModelReader *reader, const CuvTag *tag, GError **error);
void cuv_butfit_begin_haar (
    CuvModelReader *reader, const CuvTag *tag, GError **error);

/* A table of the file in the order of our codes. */
void cuv_butfit_order_table (
    const CuvModelReader *reader, const float *in, float *out, guint n);

/* FALSE, with an error, if the type is not known. */
gboolean cuv_butfit_set_type (
    CuvButfit *self, const char *name, GError **error);

#endif
