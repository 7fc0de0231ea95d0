/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that waldboostdetect's property `model` lists. */
#ifndef GST_WALDBOOST_MODELS_H
#define GST_WALDBOOST_MODELS_H

#include <glib-object.h>
#include "model/model.h"
#include "waldboost.h"

G_BEGIN_DECLS

/* A list of models; immutable, a boxed type with a reference count. */
typedef struct {
  gint n;
  /* names of the files, as in the list */
  gchar *names[CUV_WALDBOOST_MAX_MODELS];
  const CuvWaldboostModel *models[CUV_WALDBOOST_MAX_MODELS];
} GstWaldboostModels;

GType gst_waldboost_models_get_type (void);
/* NULL is allowed */
void gst_waldboost_models_unref (GstWaldboostModels *self);

/* Loads the files of a list of names, separated by commas. A backslash before a
 * comma makes it part of a name; if the whole text is the name of a file, only
 * that file is loaded. On failure, returns NULL and sets *problem, which the
 * caller frees. */
GstWaldboostModels *gst_waldboost_models_load (
    const gchar *list, const CuvModelOptions *options, gchar **problem);

/* Returns whether options affect one of the models; they do not affect
 * cascades. */
gboolean gst_waldboost_models_have_options (const GstWaldboostModels *self);

G_END_DECLS

#endif
