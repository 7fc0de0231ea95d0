/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where objects come from: the label and the model's file. */
#ifndef GST_WALDBOOST_ORIGINS_H
#define GST_WALDBOOST_ORIGINS_H

#include "gstwaldboostmodels.h"

G_BEGIN_DECLS

/* Of the objects of a model. */
typedef struct {
  gchar *label, *model_file;
  gint label_id;
  gboolean no_confidence; /* cuv_model_has_one_score() */
  /* Confidence is 1 / (1 + exp (-(score + shift) / spread)). */
  gdouble shift, spread;
} GstWaldboostOrigin;

/* Shared by all objects of an analysis; immutable, a boxed type with a
 * reference count. */
typedef struct {
  gint n;        /* models */
  gint n_labels; /* labels that were given for them, 0 = none */
  GstWaldboostOrigin of[CUV_WALDBOOST_MAX_MODELS];
} GstWaldboostOrigins;

GType gst_waldboost_origins_get_type (void);
GstWaldboostOrigins *gst_waldboost_origins_ref (GstWaldboostOrigins *self);
void gst_waldboost_origins_unref (GstWaldboostOrigins *self);

/* label: a label for each model, separated by commas; an empty one, or NULL or
 * "" for all, is that of the file name. With one model the whole text is the
 * label. labels: list that label_id refers to, in which a label that is missing
 * has -1; without it, the id is the number of the first model with the label.
 */
GstWaldboostOrigins *gst_waldboost_origins_new (
    const GstWaldboostModels *models, const gchar *label, const gchar *labels);

/* Names separated by commas, without the spaces around them; g_strfreev()
 * them. */
gchar **gst_waldboost_split_labels (const gchar *labels);

/* The index of a label in a list; -1 if it is not among them. */
gint gst_waldboost_find_label (gchar *const *list, const gchar *label);

G_END_DECLS

#endif
