/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostsettings.h"

#include "modelfile.h"

#define DEFAULT_SCALE_FACTOR 1.1
#define DEFAULT_MIN_NEIGHBORS 3
#define DEFAULT_SIZE 0
#define DEFAULT_THRESHOLD 0.0
#define DEFAULT_MAX_OBJECTS 0

enum {
  PROP_0,
  PROP_MODEL,
  PROP_LABEL,
  PROP_SCALE_FACTOR,
  PROP_MIN_NEIGHBORS,
  PROP_MIN_SIZE_WIDTH,
  PROP_MIN_SIZE_HEIGHT,
  PROP_MAX_SIZE_WIDTH,
  PROP_MAX_SIZE_HEIGHT,
  PROP_THRESHOLD,
  PROP_ROI,
  PROP_MAX_OBJECTS,
};

/* ---- model and roi ---- */

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

static gboolean
load_at_start (GstWaldboostSettings *self, const gchar *name)
{
  const CuvWaldboostModel *model;
  GError *error = NULL;

  if (name == NULL || *name == '\0') {
    GST_ELEMENT_ERROR (self->owner, RESOURCE, SETTINGS,
        ("No model. Set the property model, for example to "
         "lbpcascade_frontalface.xml of the package opencv-data."),
        (NULL));
    return FALSE;
  }
  model = cuv_model_load (name, &error);
  if (model == NULL) {
    GST_ELEMENT_ERROR (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load model: %s.", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self->owner);
  take_model (self, model, name);
  self->started = TRUE;
  GST_OBJECT_UNLOCK (self->owner);
  return TRUE;
}

gboolean
gst_waldboost_settings_start (GstWaldboostSettings *self)
{
  gchar *name, *roi_text;
  gboolean roi_ok;

  GST_OBJECT_LOCK (self->owner);
  name = g_strdup (self->model_name);
  roi_text = g_strdup (self->roi_text);
  roi_ok = cuv_roi_parse (self->roi_text, &self->roi);
  GST_OBJECT_UNLOCK (self->owner);
  if (!roi_ok)
    GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
        ("roi is '%s': it takes four pixel coordinates left,top,right,bottom "
         "from 0 up, with left < right and top < bottom.",
            roi_text),
        (NULL));
  roi_ok = roi_ok && load_at_start (self, name);
  g_free (roi_text);
  g_free (name);
  return roi_ok;
}

void
gst_waldboost_settings_stop (GstWaldboostSettings *self)
{
  GST_OBJECT_LOCK (self->owner);
  self->started = FALSE;
  g_clear_pointer (&self->model, cuv_model_unref);
  GST_OBJECT_UNLOCK (self->owner);
}

static void
set_roi (GstWaldboostSettings *self, const gchar *text)
{
  gboolean ok;
  CuvRoi roi;

  ok = cuv_roi_parse (text, &roi);
  GST_OBJECT_LOCK (self->owner);
  if (ok || !self->started) { /* start() looks again, and can fail */
    g_free (self->roi_text);
    self->roi_text = g_strdup (text);
  }
  if (ok)
    self->roi = roi;
  GST_OBJECT_UNLOCK (self->owner);
  if (ok)
    gst_cuv_filter_request_prepare (self->owner);
  else
    GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
        ("roi '%s' is not left,top,right,bottom in pixels: the old one stays.",
            text),
        (NULL));
}

/* Loads in the caller's thread, so the stream goes on with the old model until
 * the new one is there, or if it cannot be loaded. */
static void
set_model (GstWaldboostSettings *self, const gchar *name)
{
  const CuvWaldboostModel *model = NULL;
  GError *error = NULL;
  gboolean started;

  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  GST_OBJECT_UNLOCK (self->owner);
  if (started)
    model = cuv_model_load (name != NULL ? name : "", &error);
  if (error != NULL) {
    GST_ELEMENT_WARNING (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load model, the old one stays: %s.", error->message), (NULL));
    g_error_free (error);
    return;
  }
  GST_OBJECT_LOCK (self->owner);
  g_free (self->model_name);
  self->model_name = g_strdup (name);
  if (model != NULL)
    take_model (self, model, name);
  GST_OBJECT_UNLOCK (self->owner);
  gst_cuv_filter_request_prepare (self->owner);
}

/* Where an unsigned property is kept; *shapes if the plan depends on it. */
static gpointer
uint_setting (GstWaldboostSettings *self, guint id, gboolean *shapes)
{
  *shapes = id != PROP_MIN_NEIGHBORS && id != PROP_MAX_OBJECTS;
  switch (id) {
    case PROP_MIN_NEIGHBORS:
      return &self->min_neighbors;
    case PROP_MIN_SIZE_WIDTH:
      return &self->params.min_width;
    case PROP_MIN_SIZE_HEIGHT:
      return &self->params.min_height;
    case PROP_MAX_SIZE_WIDTH:
      return &self->params.max_width;
    case PROP_MAX_SIZE_HEIGHT:
      return &self->params.max_height;
    case PROP_MAX_OBJECTS:
      return &self->max_objects;
    default:
      return NULL;
  }
}

gboolean
gst_waldboost_settings_set (
    GstWaldboostSettings *self, guint id, const GValue *value)
{
  gboolean shapes = FALSE, changed = TRUE, known = TRUE;
  guint *setting;

  if (id == PROP_MODEL) {
    set_model (self, g_value_get_string (value));
    return TRUE;
  }
  if (id == PROP_ROI) {
    set_roi (self, g_value_get_string (value));
    return TRUE;
  }
  GST_OBJECT_LOCK (self->owner);
  if (id == PROP_LABEL) {
    g_free (self->label);
    self->label = g_value_dup_string (value);
    if (self->label != NULL && *self->label == '\0') /* "" is the default too */
      g_clear_pointer (&self->label, g_free);
  } else if (id == PROP_THRESHOLD) {
    self->threshold = g_value_get_double (value);
  } else if (id == PROP_SCALE_FACTOR) {
    changed = self->params.scale_factor != g_value_get_double (value);
    self->params.scale_factor = g_value_get_double (value);
    shapes = TRUE;
  } else if ((setting = uint_setting (self, id, &shapes)) != NULL) {
    changed = *setting != g_value_get_uint (value);
    *setting = g_value_get_uint (value);
  } else {
    known = FALSE;
  }
  GST_OBJECT_UNLOCK (self->owner);
  /* controllers set properties at every frame: only a change is work */
  if (known && shapes && changed)
    gst_cuv_filter_request_prepare (self->owner);
  return known;
}

gboolean
gst_waldboost_settings_get (GstWaldboostSettings *self, guint id, GValue *value)
{
  gboolean shapes, known = TRUE;
  guint *setting;

  GST_OBJECT_LOCK (self->owner);
  if (id == PROP_MODEL)
    g_value_set_string (value, self->model_name);
  else if (id == PROP_LABEL)
    g_value_set_string (value, self->label);
  else if (id == PROP_ROI)
    g_value_set_string (value, self->roi_text);
  else if (id == PROP_THRESHOLD)
    g_value_set_double (value, self->threshold);
  else if (id == PROP_SCALE_FACTOR)
    g_value_set_double (value, self->params.scale_factor);
  else if ((setting = uint_setting (self, id, &shapes)) != NULL)
    g_value_set_uint (value, *setting);
  else
    known = FALSE;
  GST_OBJECT_UNLOCK (self->owner);
  return known;
}

void
gst_waldboost_settings_init (GstWaldboostSettings *self, GstCuvFilter *owner)
{
  self->owner = owner;
  self->params.scale_factor = DEFAULT_SCALE_FACTOR;
  self->min_neighbors = DEFAULT_MIN_NEIGHBORS;
  self->threshold = DEFAULT_THRESHOLD;
  self->max_objects = DEFAULT_MAX_OBJECTS;
}

void
gst_waldboost_settings_clear (GstWaldboostSettings *self)
{
  g_clear_pointer (&self->model, cuv_model_unref);
  g_clear_pointer (&self->model_name, g_free);
  g_clear_pointer (&self->model_label, g_free);
  g_clear_pointer (&self->label, g_free);
  g_clear_pointer (&self->roi_text, g_free);
}

/* name, what it is, most, default */
static const struct {
  guint id;
  const gchar *name, *nick, *blurb;
  guint maximum, value;
} uint_properties[] = {
  { PROP_MIN_NEIGHBORS, "min-neighbors", "Minimum neighbors",
      "An object is a group of more windows than this (0 = no grouping)",
      G_MAXINT, DEFAULT_MIN_NEIGHBORS },
  { PROP_MIN_SIZE_WIDTH, "min-size-width", "Minimum size width",
      "Least width of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MIN_SIZE_HEIGHT, "min-size-height", "Minimum size height",
      "Least height of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_SIZE_WIDTH, "max-size-width", "Maximum size width",
      "Most width of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_SIZE_HEIGHT, "max-size-height", "Maximum size height",
      "Most height of an object, pixels (0 = no limit)", G_MAXINT16,
      DEFAULT_SIZE },
  { PROP_MAX_OBJECTS, "max-objects", "Maximum objects",
      "Most objects to publish for a frame, the surest first (0 = all)",
      G_MAXINT, DEFAULT_MAX_OBJECTS },
};

void
gst_waldboost_settings_install (GObjectClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (uint_properties); i++)
    g_object_class_install_property (klass, uint_properties[i].id,
        g_param_spec_uint (uint_properties[i].name, uint_properties[i].nick,
            uint_properties[i].blurb, 0, uint_properties[i].maximum,
            uint_properties[i].value, GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:model:
   *
   * An OpenCV cascade file (XML) with LBP features. A bare name is looked for
   * in the working folder, in CUV_MODEL_PATH and in OpenCV's own folders.
   * While playing, a file that cannot be loaded leaves the old model in force.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MODEL,
      g_param_spec_string ("model", "Model",
          "Cascade file, a path or a bare name", NULL, GST_CUV_PARAM_LIVE));
  g_object_class_install_property (klass, PROP_LABEL,
      g_param_spec_string ("label", "Label",
          "Label of the objects (default: the model's file name without "
          "extension, lbpcascade_ and haarcascade_)",
          NULL, GST_CUV_PARAM_LIVE));
  g_object_class_install_property (klass, PROP_SCALE_FACTOR,
      g_param_spec_double ("scale-factor", "Scale factor",
          "Ratio of window sizes from one level to the next", 1.01, 10.0,
          DEFAULT_SCALE_FACTOR, GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:threshold:
   *
   * The lowest confidence that is published. Confidence is 1 / (1 + exp (-s)),
   * s the last stage's sum minus its threshold, the largest of a group:
   * accepted windows have s >= 0, so values up to 0.5 let all pass.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_THRESHOLD,
      g_param_spec_double ("threshold", "Threshold",
          "Lowest confidence to publish", 0.0, 1.0, DEFAULT_THRESHOLD,
          GST_CUV_PARAM_TUNABLE));
  /**
   * GstWaldboostDetect:roi:
   *
   * The part of the frame to look at; right and bottom are exclusive, and it is
   * cut to the frame. Only its windows cost work.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_ROI,
      g_param_spec_string ("roi", "Region of interest",
          "Part of the frame to look at: left,top,right,bottom in pixels "
          "(default: all)",
          NULL, GST_CUV_PARAM_LIVE));
}
