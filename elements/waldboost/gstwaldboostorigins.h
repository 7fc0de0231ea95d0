/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where objects come from: the label and the model's file. */
#ifndef GST_WALDBOOST_ORIGINS_H
#define GST_WALDBOOST_ORIGINS_H

#include "gstwaldboostmodels.h"

G_BEGIN_DECLS

/* The origin of a model's objects. */
typedef struct {
  gchar *label, *model_file;
  gint label_id;
  gboolean no_confidence; /* see cuv_model_has_one_score() */
  /* Confidence is 1 / (1 + exp (-(score + shift) / spread)). */
  gdouble shift, spread;
} GstWaldboostOrigin;

/* Shared by all objects of an analysis; immutable, a boxed type with a
 * reference count. */
typedef struct {
  gint n;        /* number of models */
  gint n_labels; /* number of labels given for them; 0 = none */
  GstWaldboostOrigin of[CUV_WALDBOOST_MAX_MODELS];
} GstWaldboostOrigins;

GType gst_waldboost_origins_get_type (void);
GstWaldboostOrigins *gst_waldboost_origins_ref (GstWaldboostOrigins *self);
void gst_waldboost_origins_unref (GstWaldboostOrigins *self);

/* label: a label for each model, separated by commas; an empty label is
 * replaced by that of the file name, and NULL or "" means that all are empty.
 * With one model the whole text is the label. labels: the list into which
 * label_id is an index, -1 if the label is not in the list; without a list,
 * label_id is the index of the first model with the label. */
GstWaldboostOrigins *gst_waldboost_origins_new (
    const GstWaldboostModels *models, const gchar *label, const gchar *labels);

/* Splits names separated by commas and removes the spaces around them; free the
 * result with g_strfreev(). */
gchar **gst_waldboost_split_labels (const gchar *labels);

/* Returns the index of a label in a list, or -1 if the list lacks it. */
gint gst_waldboost_find_label (gchar *const *list, const gchar *label);

G_END_DECLS

#endif
