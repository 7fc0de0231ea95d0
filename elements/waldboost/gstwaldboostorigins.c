/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostorigins.h"

#include <string.h>

#include "model/file.h"
#include "waldboost/channels/channels-types.h"

/* ---- the boxed type ---- */

static void
clear_origins (gpointer origins)
{
  GstWaldboostOrigins *self = origins;

  for (gint i = 0; i < self->n; i++) {
    g_free (self->of[i].label);
    g_free (self->of[i].model_file);
  }
}

GstWaldboostOrigins *
gst_waldboost_origins_ref (GstWaldboostOrigins *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
gst_waldboost_origins_unref (GstWaldboostOrigins *self)
{
  g_atomic_rc_box_release_full (self, clear_origins);
}

G_DEFINE_BOXED_TYPE (GstWaldboostOrigins, gst_waldboost_origins,
    gst_waldboost_origins_ref, gst_waldboost_origins_unref)

/* ---- labels ---- */

gchar **
gst_waldboost_split_labels (const gchar *labels)
{
  gchar **list = g_strsplit (labels, ",", -1);

  for (guint i = 0; list[i] != NULL; i++)
    g_strstrip (list[i]);
  return list;
}

gint
gst_waldboost_find_label (gchar *const *list, const gchar *label)
{
  for (gint i = 0; list[i] != NULL; i++) {
    if (strcmp (list[i], label) == 0)
      return i;
  }
  return -1;
}

static gboolean
is_empty_text (const gchar *text)
{
  return text == NULL || *text == '\0';
}

/* Returns the labels that are given for n models. */
static gchar **
given_labels (const gchar *label, gint n)
{
  gchar **list;

  if (n > 1)
    return gst_waldboost_split_labels (label != NULL ? label : "");
  list = g_new0 (gchar *, 2);
  list[0] = g_strdup (is_empty_text (label) ? NULL : label);
  return list;
}

/* Makes a file name, which may have any encoding, valid UTF-8, as structures
 * require. Frees text. */
static gchar *
take_valid (gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1);

  g_free (text);
  return valid;
}

/* Sets the parameters that turn scores, which depend on final-threshold, into
 * confidences. */
static void
set_confidence (GstWaldboostOrigin *self, const CuvWaldboostModel *model)
{
  const CuvChannelsModel *channels = model->channels;

  self->no_confidence = cuv_model_has_one_score (model);
  self->spread = 1;
  if (channels == NULL || channels->spread == 0)
    return;
  self->shift =
      ((gdouble) channels->trees.final_threshold - channels->even) / 256;
  self->spread = (gdouble) channels->spread / 256;
}

static GstWaldboostOrigin
new_origin (const GstWaldboostModels *models, gint i, const gchar *label)
{
  gchar *name = is_empty_text (label) ? cuv_model_label (models->names[i])
                                      : g_strdup (label);
  GstWaldboostOrigin origin = { .label = take_valid (name),
    .model_file = take_valid (g_path_get_basename (models->names[i])) };

  set_confidence (&origin, models->models[i]);
  return origin;
}

static void
set_label_ids (GstWaldboostOrigins *self, const gchar *labels)
{
  gchar *own[CUV_WALDBOOST_MAX_MODELS + 1] = { NULL };
  gchar **list =
      is_empty_text (labels) ? NULL : gst_waldboost_split_labels (labels);

  for (gint i = 0; i < self->n; i++)
    own[i] = self->of[i].label;
  for (gint i = 0; i < self->n; i++)
    self->of[i].label_id =
        gst_waldboost_find_label (list != NULL ? list : own, own[i]);
  g_strfreev (list);
}

GstWaldboostOrigins *
gst_waldboost_origins_new (
    const GstWaldboostModels *models, const gchar *label, const gchar *labels)
{
  GstWaldboostOrigins *self = g_atomic_rc_box_new0 (GstWaldboostOrigins);
  gchar **given = given_labels (label, models->n);

  self->n = models->n;
  self->n_labels = (gint) g_strv_length (given);
  for (gint i = 0; i < models->n; i++)
    self->of[i] = new_origin (models, i, i < self->n_labels ? given[i] : NULL);
  g_strfreev (given);
  set_label_ids (self, labels);
  return self;
}
