/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostmodels.h"

#include <string.h>

#include "model/file.h"

/* ---- the boxed type ---- */

static GstWaldboostModels *
gst_waldboost_models_ref (GstWaldboostModels *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear_models (gpointer models)
{
  GstWaldboostModels *self = models;

  for (gint i = 0; i < self->n; i++) {
    g_free (self->names[i]);
    cuv_model_unref (self->models[i]);
  }
}

void
gst_waldboost_models_unref (GstWaldboostModels *self)
{
  if (self != NULL)
    g_atomic_rc_box_release_full (self, clear_models);
}

G_DEFINE_BOXED_TYPE (GstWaldboostModels, gst_waldboost_models,
    gst_waldboost_models_ref, gst_waldboost_models_unref)

/* ---- the list of names ---- */

/* Takes the next name from a list; *list becomes NULL after the last one. */
static gchar *
next_name (const gchar **list)
{
  GString *name = g_string_new (NULL);
  const gchar *at = *list;

  for (; *at != '\0' && *at != ','; at++) {
    if (at[0] == '\\' && at[1] == ',')
      at++;
    g_string_append_c (name, *at);
  }
  *list = *at == ',' ? at + 1 : NULL;
  return g_strstrip (g_string_free (name, FALSE));
}

static GPtrArray *
split_names (const gchar *list)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  if (strchr (list, ',') == NULL || cuv_model_exists (list))
    g_ptr_array_add (names, g_strdup (list));
  else
    while (list != NULL)
      g_ptr_array_add (names, next_name (&list));
  return names;
}

static gchar *
list_problem (const GPtrArray *names)
{
  if (names->len > CUV_WALDBOOST_MAX_MODELS)
    return g_strdup_printf (
        "it has %u file names, but the limit is %d: use several elements",
        names->len, CUV_WALDBOOST_MAX_MODELS);
  for (guint i = 0; i < names->len; i++) {
    if (*(const gchar *) g_ptr_array_index (names, i) == '\0')
      return g_strdup_printf (
          "file name %u of the list is empty: expected names separated by "
          "commas",
          i + 1);
  }
  return NULL;
}

static gchar *
add_model (
    GstWaldboostModels *self, const gchar *name, const CuvModelOptions *options)
{
  GError *error = NULL;
  const CuvWaldboostModel *model = cuv_model_load (name, options, &error);
  gchar *problem = NULL;

  if (model != NULL) {
    self->names[self->n] = g_strdup (name);
    self->models[self->n++] = model;
  } else {
    problem = g_strdup (error->message);
    g_error_free (error);
  }
  return problem;
}

GstWaldboostModels *
gst_waldboost_models_load (
    const gchar *list, const CuvModelOptions *options, gchar **problem)
{
  GstWaldboostModels *self = g_atomic_rc_box_new0 (GstWaldboostModels);
  GPtrArray *names = split_names (list);

  *problem = list_problem (names);
  for (guint i = 0; i < names->len && *problem == NULL; i++)
    *problem = add_model (self, g_ptr_array_index (names, i), options);
  g_ptr_array_unref (names);
  if (*problem != NULL)
    g_clear_pointer (&self, gst_waldboost_models_unref);
  return self;
}

gboolean
gst_waldboost_models_have_options (const GstWaldboostModels *self)
{
  gboolean have = FALSE;

  for (gint i = 0; i < self->n; i++)
    have |= self->models[i]->arithmetic != CUV_SUM_STAGES;
  return have;
}
