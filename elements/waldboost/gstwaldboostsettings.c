/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostsettings.h"

#include <string.h>

#include "model/file.h"

/* ---- texts that have to be understood ---- */

static gboolean
parse_roi (GstWaldboostSettings *self, const gchar *text)
{
  return cuv_roi_parse (text, &self->roi);
}

/* NULL if a name is empty or there twice. */
static gchar **
split_labels (const gchar *text)
{
  gchar **labels = g_strsplit (text, ",", -1);

  for (guint i = 0; labels[i] != NULL; i++) {
    gboolean bad = *g_strstrip (labels[i]) == '\0';

    for (guint j = 0; j < i; j++)
      bad |= strcmp (labels[j], labels[i]) == 0;
    if (bad) {
      g_strfreev (labels);
      return NULL;
    }
  }
  return labels;
}

static gboolean
parse_labels (GstWaldboostSettings *self, const gchar *text)
{
  gboolean none = text == NULL || *text == '\0';
  gchar **labels = none ? NULL : split_labels (text);

  if (labels == NULL && !none)
    return FALSE;
  g_strfreev (self->labels);
  self->labels = labels;
  return TRUE;
}

static gboolean
parse_stages (GstWaldboostSettings *self, const gchar *text)
{
  gint32 ends[CUV_WALDBOOST_MAX_SEGMENTS];
  gint n = 0;

  for (;;) {
    gchar *end;
    gint64 value = g_ascii_strtoll (text, &end, 10);

    if (end == text || value < 1 || value > CUV_MODEL_MAX_STAGES
        || (n > 0 && value <= ends[n - 1]) || n == G_N_ELEMENTS (ends) - 1)
      return FALSE;
    ends[n++] = (gint32) value;
    end += strspn (end, " ");
    if (*end == '\0')
      break;
    if (*end != ',')
      return FALSE;
    text = end + 1;
  }
  memcpy (self->params.segment_end, ends, sizeof ends);
  self->params.n_segments = n;
  return TRUE;
}

static const struct {
  guint id;
  const gchar *name;
  gboolean (*parse) (GstWaldboostSettings *self, const gchar *text);
  const gchar *takes;
  const gchar *value; /* that no text stands for, or NULL */
} parsed[] = {
  { GST_WALDBOOST_PROP_ROI, "roi", parse_roi, CUV_ROI_TAKES, NULL },
  { GST_WALDBOOST_PROP_LABELS, "labels", parse_labels,
      "names with commas between, each once", NULL },
  { GST_WALDBOOST_PROP_REARRANGEMENT_STAGES, "rearrangement-stages",
      parse_stages,
      "up to 31 rising numbers from 1 to 4096 with commas between",
      GST_WALDBOOST_DEFAULT_STAGES },
};

static gboolean
parse_at_start (GstWaldboostSettings *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (parsed); i++) {
    gchar *text;
    gboolean ok;

    GST_OBJECT_LOCK (self->owner);
    text = g_strdup (self->texts[parsed[i].id]);
    ok = parsed[i].parse (self, text);
    GST_OBJECT_UNLOCK (self->owner);
    if (!ok)
      GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
          ("%s is '%s': it takes %s.", parsed[i].name, text, parsed[i].takes),
          (NULL));
    g_free (text);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

static void
set_parsed (GstWaldboostSettings *self, guint i, const gchar *text)
{
  gboolean ok, started;

  if (parsed[i].value != NULL && (text == NULL || *text == '\0'))
    text = parsed[i].value;
  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  ok = parsed[i].parse (self, text);
  if (ok || !started) { /* start() looks again, and can fail */
    g_free (self->texts[parsed[i].id]);
    self->texts[parsed[i].id] = g_strdup (text);
  }
  GST_OBJECT_UNLOCK (self->owner);
  if (ok)
    gst_cuv_filter_request_prepare (self->owner);
  else if (started)
    GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
        ("%s '%s' is refused, the old one stays: it takes %s.", parsed[i].name,
            text, parsed[i].takes),
        (NULL));
}

/* ---- the model ---- */

/* Takes the model under its name; the object lock is held. */
static void
take_model (GstWaldboostSettings *self, const CuvWaldboostModel *model,
    const gchar *name)
{
  cuv_model_unref (self->model);
  self->model = model;
  g_free (self->model_label);
  self->model_label = cuv_model_label (name);
}

/* Loads the model that is named, if one is. */
static gboolean
load_at_start (GstWaldboostSettings *self, gboolean *named, GError **error)
{
  const CuvWaldboostModel *model = NULL;
  gchar *name;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  name = g_strdup (self->texts[GST_WALDBOOST_PROP_MODEL]);
  GST_OBJECT_UNLOCK (self->owner);
  *named = name != NULL && *name != '\0';
  if (*named)
    model = cuv_model_load (name, &self->options, error);
  if (model != NULL) {
    GST_OBJECT_LOCK (self->owner);
    take_model (self, model, name);
    self->started = TRUE;
    GST_OBJECT_UNLOCK (self->owner);
  }
  g_mutex_unlock (&self->loading);
  g_free (name);
  return model != NULL;
}

gboolean
gst_waldboost_settings_start (GstWaldboostSettings *self)
{
  GError *error = NULL;
  gboolean named;

  if (!parse_at_start (self))
    return FALSE;
  if (load_at_start (self, &named, &error))
    return TRUE;
  if (named)
    GST_ELEMENT_ERROR (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load model: %s.", error->message), (NULL));
  else
    GST_ELEMENT_ERROR (self->owner, RESOURCE, SETTINGS,
        ("No model. Set the property model, for example to "
         "lbpcascade_frontalface.xml of the package opencv-data."),
        (NULL));
  g_clear_error (&error);
  return FALSE;
}

void
gst_waldboost_settings_stop (GstWaldboostSettings *self)
{
  GST_OBJECT_LOCK (self->owner);
  self->started = FALSE;
  g_clear_pointer (&self->model, cuv_model_unref);
  GST_OBJECT_UNLOCK (self->owner);
}

/* Loads in the caller's thread, so the stream goes on with the old model until
 * the new one is there, or if it cannot be loaded. */
static void
set_model (GstWaldboostSettings *self, const gchar *name)
{
  const CuvWaldboostModel *model = NULL;
  GError *error = NULL;
  gboolean started;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  GST_OBJECT_UNLOCK (self->owner);
  if (started)
    model = cuv_model_load (name != NULL ? name : "", &self->options, &error);
  if (error == NULL) {
    GST_OBJECT_LOCK (self->owner);
    g_free (self->texts[GST_WALDBOOST_PROP_MODEL]);
    self->texts[GST_WALDBOOST_PROP_MODEL] = g_strdup (name);
    if (model != NULL)
      take_model (self, model, name);
    GST_OBJECT_UNLOCK (self->owner);
    gst_cuv_filter_request_prepare (self->owner);
  }
  g_mutex_unlock (&self->loading);
  if (error != NULL)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load model, the old one stays: %s.", error->message), (NULL));
  g_clear_error (&error);
}

/* ---- numbers ---- */

/* The model is read again in the caller's thread; if that fails, the old model
 * and the old value stay. Cascades have no options. */
static void
set_option (GstWaldboostSettings *self, const GstCuvProperty *property,
    const GValue *value)
{
  gsize at = property->offset - G_STRUCT_OFFSET (GstWaldboostSettings, options);
  const CuvWaldboostModel *model = NULL;
  CuvModelOptions options;
  GError *error = NULL;
  gchar *name = NULL;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  options = self->options;
  if (gst_cuv_value_store (G_STRUCT_MEMBER_P (&options, at), value)
      && self->started && self->model->arithmetic != CUV_SUM_STAGES)
    name = g_strdup (self->texts[GST_WALDBOOST_PROP_MODEL]);
  GST_OBJECT_UNLOCK (self->owner);
  if (name != NULL)
    model = cuv_model_load (name, &options, &error);
  if (error == NULL) {
    GST_OBJECT_LOCK (self->owner);
    self->options = options;
    if (model != NULL)
      take_model (self, model, name);
    GST_OBJECT_UNLOCK (self->owner);
    if (model != NULL)
      gst_cuv_filter_request_prepare (self->owner);
  }
  g_mutex_unlock (&self->loading);
  if (error != NULL)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, OPEN_READ,
        ("%s is not changed: %s.", property->name, error->message), (NULL));
  g_clear_error (&error);
  g_free (name);
}

static void
set_number (GstWaldboostSettings *self, const GstCuvProperty *property,
    const GValue *value)
{
  gboolean changed;

  GST_OBJECT_LOCK (self->owner);
  changed =
      gst_cuv_value_store (G_STRUCT_MEMBER_P (self, property->offset), value);
  GST_OBJECT_UNLOCK (self->owner);
  /* controllers set properties at every frame: only a change is work */
  if (changed && property->effect == GST_WALDBOOST_PLAN)
    gst_cuv_filter_request_prepare (self->owner);
}

/* ---- entry ---- */

static void
set_text (GstWaldboostSettings *self, guint id, const gchar *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (parsed); i++) {
    if (parsed[i].id == id) {
      set_parsed (self, i, text);
      return;
    }
  }
  if (id == GST_WALDBOOST_PROP_MODEL) {
    set_model (self, text);
    return;
  }
  GST_OBJECT_LOCK (self->owner);
  g_free (self->texts[id]);
  self->texts[id] = g_strdup (text);
  if (id == GST_WALDBOOST_PROP_OBJECT_CLASS)
    self->object_class =
        text != NULL && *text != '\0' ? g_quark_from_string (text) : 0;
  GST_OBJECT_UNLOCK (self->owner);
  if (id == GST_WALDBOOST_PROP_LABEL)
    gst_cuv_filter_request_prepare (self->owner);
}

void
gst_waldboost_settings_set (
    GstWaldboostSettings *self, guint id, const GValue *value)
{
  const GstCuvProperty *property = gst_waldboost_property (id);

  if (property == NULL)
    set_text (self, id, g_value_get_string (value));
  else if (property->effect == GST_WALDBOOST_MODEL)
    set_option (self, property, value);
  else
    set_number (self, property, value);
}

void
gst_waldboost_settings_get (GstWaldboostSettings *self, guint id, GValue *value)
{
  const GstCuvProperty *property = gst_waldboost_property (id);

  GST_OBJECT_LOCK (self->owner);
  if (property == NULL)
    g_value_set_string (value, self->texts[id]);
  else
    gst_cuv_value_fetch (G_STRUCT_MEMBER_P (self, property->offset), value);
  GST_OBJECT_UNLOCK (self->owner);
}

const gchar *
gst_waldboost_settings_label (const GstWaldboostSettings *self, gint *id)
{
  const gchar *label = self->texts[GST_WALDBOOST_PROP_LABEL];

  if (label == NULL || *label == '\0')
    label = self->model_label;
  *id = self->labels == NULL ? 0 : -1;
  for (gint i = 0; self->labels != NULL && self->labels[i] != NULL; i++) {
    if (strcmp (self->labels[i], label) == 0)
      *id = i;
  }
  return label;
}

void
gst_waldboost_settings_init (GstWaldboostSettings *self, GstCuvFilter *owner)
{
  self->owner = owner;
  g_mutex_init (&self->loading);
  gst_waldboost_properties_reset (self);
  self->texts[GST_WALDBOOST_PROP_REARRANGEMENT_STAGES] =
      g_strdup (GST_WALDBOOST_DEFAULT_STAGES);
}

void
gst_waldboost_settings_clear (GstWaldboostSettings *self)
{
  g_clear_pointer (&self->model, cuv_model_unref);
  g_clear_pointer (&self->model_label, g_free);
  g_clear_pointer (&self->labels, g_strfreev);
  for (guint i = 0; i < GST_WALDBOOST_N_TEXTS; i++)
    g_clear_pointer (&self->texts[i], g_free);
  g_mutex_clear (&self->loading);
}
