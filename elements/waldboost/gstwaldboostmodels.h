/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The models that the property model of waldboostdetect names. */
#ifndef GST_WALDBOOST_MODELS_H
#define GST_WALDBOOST_MODELS_H

#include <glib-object.h>
#include "model/model.h"
#include "waldboost.h"

G_BEGIN_DECLS

/* Immutable, a boxed type with a reference count. */
typedef struct {
  gint n;
  gchar *names[CUV_WALDBOOST_MAX_MODELS]; /* of the files, as in the list */
  const CuvWaldboostModel *models[CUV_WALDBOOST_MAX_MODELS];
} GstWaldboostModels;

GType gst_waldboost_models_get_type (void);
void gst_waldboost_models_unref (GstWaldboostModels *self); /* NULL allowed */

/* Loads the files of a list of names, separated by commas. A backslash before a
 * comma makes it part of a name; a text that is itself the name of a file is
 * that name. Returns NULL and sets *problem, which the caller frees. */
GstWaldboostModels *gst_waldboost_models_load (
    const gchar *list, const CuvModelOptions *options, gchar **problem);

/* Whether options matter for one of the models: cascades have none. */
gboolean gst_waldboost_models_have_options (const GstWaldboostModels *self);

G_END_DECLS

#endif
