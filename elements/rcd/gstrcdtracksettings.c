/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstrcdtracksettings.h"

#include <stdlib.h>

#include "gstrcdpicture.h"
#include "gstrcdtrackproperties.h"

/* The variance of what rounding to 8 bits adds. */
#define LAMBDA (1.0 / 12)

/* ---- what the values come to ---- */

CuvTrackerConfig
gst_rcd_values_shape (const GstRcdValues *self)
{
  CuvTrackerConfig shape = {
    .features = self->features,
    .metric = self->metric,
    .stride = self->stride,
    .cell = self->cell,
    .max_targets = self->max_targets,
    .lambda = LAMBDA,
  };

  return shape;
}

CuvTrackerParams
gst_rcd_values_params (const GstRcdValues *self)
{
  CuvTrackerParams params = {
    .n_scales = self->n_scales,
    .full = self->full,
    .radius = self->search_radius,
    .refine = self->refine,
    .update = { self->update, self->update_rate, self->update_window },
    .max_distance = self->max_distance,
    .max_lost_frames = self->max_lost_frames,
  };

  for (gint i = 0; i < self->n_scales; i++)
    params.scales[i] = self->scales[i];
  return params;
}

gdouble
gst_rcd_values_max_distance (const GstRcdValues *self)
{
  return self->max_distance > 0
      ? self->max_distance
      : cuv_tracker_max_distance (self->features, self->metric);
}

gboolean
gst_rcd_values_have_box (const GstRcdValues *self)
{
  return self->box.width > 0;
}

gchar *
gst_rcd_values_problem (const GstRcdValues *self)
{
  const CuvRcdBox *box = &self->box;
  guint n_set =
      (box->x >= 0) + (box->y >= 0) + (box->width > 0) + (box->height > 0);

  if (n_set != 0 && n_set != 4)
    return g_strdup_printf (
        "object-initial-x %d, -y %d, -width %d, -height %d are a part of a "
        "box: set all four, or none (-1, -1, 0, 0)",
        box->x, box->y, box->width, box->height);
  if (self->cell > 0 && self->stride > 0 && self->stride % self->cell != 0)
    return g_strdup_printf (
        "cell %d does not divide stride %d: set cell to a divisor of it, or "
        "to 0",
        self->cell, self->stride);
  return NULL;
}

gchar *
gst_rcd_values_box_problem (const GstRcdValues *self, gint width, gint height)
{
  const CuvRcdBox *box = &self->box;

  if (!gst_rcd_values_have_box (self)
      || (box->x + box->width <= width && box->y + box->height <= height))
    return NULL;
  return g_strdup_printf (
      "object-initial-x %d, -y %d, -width %d, -height %d is not inside the "
      "frame, which is %dx%d: set a box that is",
      box->x, box->y, box->width, box->height, width, height);
}

/* ---- scales ---- */

static int
compare_scales (const void *a, const void *b)
{
  gdouble first = *(const gdouble *) a, second = *(const gdouble *) b;

  return (first > second) - (first < second);
}

/* 0.25, 0.5 .. 2 */
static void
default_scales (GstRcdValues *values)
{
  values->n_scales = 8;
  for (gint i = 0; i < 8; i++)
    values->scales[i] = 0.25 * (i + 1);
}

/* In any order; FALSE if there are too many. */
static gboolean
parse_scales (const GValue *array, GstRcdValues *values)
{
  guint n = gst_value_array_get_size (array);

  if (n > CUV_RCD_MAX_LEVELS)
    return FALSE;
  for (guint i = 0; i < n; i++)
    values->scales[i] =
        g_value_get_double (gst_value_array_get_value (array, i));
  qsort (values->scales, n, sizeof *values->scales, compare_scales);
  values->n_scales = (gint) n;
  if (n == 0)
    default_scales (values);
  return TRUE;
}

static void
set_scales (GstRcdSettings *self, const GValue *array)
{
  guint n = gst_value_array_get_size (array);
  gboolean ok, started;

  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  ok = parse_scales (array, &self->values);
  if (ok || !started) /* start() looks again, and can fail */
    g_value_copy (array, &self->scales);
  GST_OBJECT_UNLOCK (self->owner);
  if (ok)
    gst_cuv_filter_request_prepare (self->owner);
  else if (started)
    GST_ELEMENT_WARNING (self->owner, LIBRARY, SETTINGS,
        ("scales with %u values is refused, the old ones stay: it takes up to "
         "%d.",
            n, CUV_RCD_MAX_LEVELS),
        (NULL));
}

static gboolean
scales_at_start (GstRcdSettings *self)
{
  gboolean ok;
  guint n;

  GST_OBJECT_LOCK (self->owner);
  ok = parse_scales (&self->scales, &self->values);
  n = gst_value_array_get_size (&self->scales);
  GST_OBJECT_UNLOCK (self->owner);
  if (!ok)
    GST_ELEMENT_ERROR (self->owner, LIBRARY, SETTINGS,
        ("scales has %u values: it takes up to %d.", n, CUV_RCD_MAX_LEVELS),
        (NULL));
  return ok;
}

/* ---- the picture ---- */

/* The object lock is held. */
static void
take_picture (GstRcdSettings *self, GstSample *picture)
{
  g_clear_pointer (&self->picture, gst_sample_unref);
  self->picture = picture;
  self->values.picture = picture != NULL ? ++self->n_pictures : 0;
}

static gboolean
picture_at_start (GstRcdSettings *self)
{
  GstSample *picture = NULL;
  GError *error = NULL;
  gboolean ok;
  gchar *path;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  path = g_strdup (self->target_image);
  GST_OBJECT_UNLOCK (self->owner);
  if (path != NULL && *path != '\0')
    picture = gst_rcd_picture_load (path, &error);
  ok = error == NULL;
  if (ok) {
    GST_OBJECT_LOCK (self->owner);
    take_picture (self, picture);
    self->started = TRUE;
    GST_OBJECT_UNLOCK (self->owner);
  } else {
    GST_ELEMENT_ERROR (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load target-image: %s.", error->message), (NULL));
  }
  g_mutex_unlock (&self->loading);
  g_clear_error (&error);
  g_free (path);
  return ok;
}

/* Loads in the caller's thread, so the stream goes on meanwhile. */
static void
set_picture (GstRcdSettings *self, const gchar *path)
{
  GstSample *picture = NULL;
  GError *error = NULL;
  gboolean started;

  g_mutex_lock (&self->loading);
  GST_OBJECT_LOCK (self->owner);
  started = self->started;
  GST_OBJECT_UNLOCK (self->owner);
  if (started && path != NULL && *path != '\0')
    picture = gst_rcd_picture_load (path, &error);
  if (error == NULL) {
    GST_OBJECT_LOCK (self->owner);
    g_free (self->target_image);
    self->target_image = g_strdup (path);
    take_picture (self, picture);
    GST_OBJECT_UNLOCK (self->owner);
    gst_cuv_filter_request_prepare (self->owner);
  }
  g_mutex_unlock (&self->loading);
  if (error != NULL)
    GST_ELEMENT_WARNING (self->owner, RESOURCE, OPEN_READ,
        ("Cannot load target-image, the old one stays: %s.", error->message),
        (NULL));
  g_clear_error (&error);
}

GstSample *
gst_rcd_settings_picture (GstRcdSettings *self)
{
  GstSample *picture = NULL;

  GST_OBJECT_LOCK (self->owner);
  if (self->picture != NULL)
    picture = gst_sample_ref (self->picture);
  GST_OBJECT_UNLOCK (self->owner);
  return picture;
}

/* ---- entry ---- */

GstRcdValues
gst_rcd_settings_values (GstRcdSettings *self)
{
  GstRcdValues values;

  GST_OBJECT_LOCK (self->owner);
  values = self->values;
  GST_OBJECT_UNLOCK (self->owner);
  return values;
}

gboolean
gst_rcd_settings_start (GstRcdSettings *self)
{
  return scales_at_start (self) && picture_at_start (self);
}

void
gst_rcd_settings_stop (GstRcdSettings *self)
{
  GST_OBJECT_LOCK (self->owner);
  self->started = FALSE;
  take_picture (self, NULL);
  GST_OBJECT_UNLOCK (self->owner);
}

static void
set_class (GstRcdSettings *self, const gchar *label)
{
  GST_OBJECT_LOCK (self->owner);
  g_free (self->object_class);
  self->object_class = g_strdup (label);
  self->values.object_class =
      label != NULL && *label != '\0' ? g_quark_from_string (label) : 0;
  GST_OBJECT_UNLOCK (self->owner);
  gst_cuv_filter_request_prepare (self->owner);
}

static void
set_number (GstRcdSettings *self, gpointer place, const GValue *value)
{
  gboolean changed;

  GST_OBJECT_LOCK (self->owner);
  changed = gst_cuv_value_store (place, value);
  GST_OBJECT_UNLOCK (self->owner);
  /* controllers set properties at every frame: only a change is work */
  if (changed)
    gst_cuv_filter_request_prepare (self->owner);
}

void
gst_rcd_settings_set (GstRcdSettings *self, guint id, const GValue *value)
{
  if (id == GST_RCD_PROP_OBJECT_CLASS)
    set_class (self, g_value_get_string (value));
  else if (id == GST_RCD_PROP_TARGET_IMAGE)
    set_picture (self, g_value_get_string (value));
  else if (id == GST_RCD_PROP_SCALES)
    set_scales (self, value);
  else
    set_number (self, gst_rcd_property_place (&self->values, id), value);
}

void
gst_rcd_settings_get (GstRcdSettings *self, guint id, GValue *value)
{
  GST_OBJECT_LOCK (self->owner);
  if (id == GST_RCD_PROP_OBJECT_CLASS)
    g_value_set_string (value, self->object_class);
  else if (id == GST_RCD_PROP_TARGET_IMAGE)
    g_value_set_string (value, self->target_image);
  else if (id == GST_RCD_PROP_SCALES)
    g_value_copy (&self->scales, value);
  else
    gst_cuv_value_fetch (gst_rcd_property_place (&self->values, id), value);
  GST_OBJECT_UNLOCK (self->owner);
}

void
gst_rcd_settings_init (GstRcdSettings *self, GstCuvFilter *owner)
{
  self->owner = owner;
  g_mutex_init (&self->loading);
  g_value_init (&self->scales, GST_TYPE_ARRAY);
  gst_rcd_properties_reset (&self->values);
  default_scales (&self->values);
}

void
gst_rcd_settings_clear (GstRcdSettings *self)
{
  g_clear_pointer (&self->object_class, g_free);
  g_clear_pointer (&self->target_image, g_free);
  g_clear_pointer (&self->picture, gst_sample_unref);
  g_value_unset (&self->scales);
  g_mutex_clear (&self->loading);
}
