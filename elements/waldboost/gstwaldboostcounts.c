/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostcounts.h"
#include "gstcuvstructure.h"

void
gst_waldboost_counts_init (GstWaldboostCounts *self)
{
  for (gint i = 0; i < CUV_WALDBOOST_MAX_MODELS; i++) {
    self->of[i].segments = g_array_new (FALSE, TRUE, sizeof (guint64));
    self->of[i].survivors = g_array_new (FALSE, TRUE, sizeof (guint64));
  }
}

void
gst_waldboost_counts_clear (GstWaldboostCounts *self)
{
  g_clear_pointer (&self->origins, gst_waldboost_origins_unref);
  for (gint i = 0; i < CUV_WALDBOOST_MAX_MODELS; i++) {
    g_clear_pointer (&self->of[i].segments, g_array_unref);
    g_clear_pointer (&self->of[i].survivors, g_array_unref);
  }
}

/* ---- a frame ---- */

static void
begin_model (GstWaldboostModelCounts *self, const CuvWaldboostPlan *plan)
{
  g_array_set_size (self->segments, 0);
  g_array_set_size (self->survivors, 0);
  *self = (GstWaldboostModelCounts){ .segments = self->segments,
    .survivors = self->survivors };
  for (gint i = 0; plan != NULL && i < plan->n_segments; i++) {
    const guint64 end = plan->segment_end[i];

    g_array_append_val (self->segments, end);
  }
  g_array_set_size (self->survivors, self->segments->len);
}

void
gst_waldboost_counts_begin (GstWaldboostCounts *self,
    GstWaldboostOrigins *origins, const CuvWaldboostPlan *const *plans,
    guint64 lost)
{
  g_clear_pointer (&self->origins, gst_waldboost_origins_unref);
  if (origins != NULL)
    self->origins = gst_waldboost_origins_ref (origins);
  for (gint i = 0; i < CUV_WALDBOOST_MAX_MODELS; i++)
    begin_model (
        &self->of[i], origins != NULL && i < origins->n ? plans[i] : NULL);
  self->levels = self->regions = 0;
  self->pyramid_us = self->group_us = 0;
  self->lost = lost;
}

void
gst_waldboost_counts_add (
    GstWaldboostCounts *self, gint model, const CuvWaldboostResult *result)
{
  GstWaldboostModelCounts *of = &self->of[model];

  of->windows += result->windows;
  of->weak += result->weak;
  of->accepted += result->n_hits;
  of->scan_us += result->scan_us;
  self->lost += result->overflow;
  self->pyramid_us += result->pyramid_us;
  for (guint i = 0; result->survivors != NULL && i < of->survivors->len; i++)
    g_array_index (of->survivors, guint64, i) += result->survivors[i];
}

/* ---- statistics ---- */

static void
set_array (GstStructure *stats, const gchar *name, const GArray *numbers)
{
  GValue array = G_VALUE_INIT, value = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  g_value_init (&value, G_TYPE_UINT64);
  for (guint i = 0; i < numbers->len; i++) {
    g_value_set_uint64 (&value, g_array_index (numbers, guint64, i));
    gst_value_array_append_value (&array, &value);
  }
  g_value_unset (&value);
  gst_cuv_structure_take_value (stats, name, &array);
}

/* Sets the fields that describe one model, or all models together. */
static void
waldboost_set_counts (
    GstStructure *stats, const GstWaldboostModelCounts *counts)
{
  gst_cuv_structure_set (stats, "windows", G_TYPE_UINT64, counts->windows,
      "windows-accepted", G_TYPE_UINT64, counts->accepted, "objects",
      G_TYPE_UINT, counts->objects, "weak-per-window", G_TYPE_DOUBLE,
      counts->windows > 0 ? (gdouble) counts->weak / (gdouble) counts->windows
                          : 0.,
      "microseconds-scan", G_TYPE_DOUBLE, counts->scan_us, NULL);
}

static void
set_segments (GstStructure *stats, const GstWaldboostModelCounts *counts)
{
  set_array (stats, "segments", counts->segments);
  set_array (stats, "survivors", counts->survivors);
}

static GstWaldboostModelCounts
sum_of_models (const GstWaldboostCounts *self)
{
  GstWaldboostModelCounts sum = { 0 };

  for (gint i = 0; i < CUV_WALDBOOST_MAX_MODELS; i++) {
    const GstWaldboostModelCounts *of = &self->of[i];

    sum.windows += of->windows;
    sum.weak += of->weak;
    sum.accepted += of->accepted;
    sum.objects += of->objects;
    sum.scan_us += of->scan_us;
  }
  return sum;
}

static void
append_model (GValue *models, const GstWaldboostOrigin *origin,
    const GstWaldboostModelCounts *counts)
{
  GstStructure *structure =
      gst_cuv_structure_new ("model", "model_name", G_TYPE_STRING,
          origin->model_file, "label", G_TYPE_STRING, origin->label, NULL);
  GValue value = G_VALUE_INIT;

  waldboost_set_counts (structure, counts);
  set_segments (structure, counts);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_array_append_and_take_value (models, &value);
}

static void
set_models (GstStructure *stats, const GstWaldboostCounts *self)
{
  GValue models = G_VALUE_INIT;

  g_value_init (&models, GST_TYPE_ARRAY);
  for (gint i = 0; i < self->origins->n; i++)
    append_model (&models, &self->origins->of[i], &self->of[i]);
  gst_cuv_structure_take_value (stats, "models", &models);
}

void
gst_waldboost_counts_to_stats (
    const GstWaldboostCounts *self, GstStructure *stats)
{
  const GstWaldboostModelCounts sum = sum_of_models (self);

  gst_cuv_structure_set (stats, "levels", G_TYPE_UINT, self->levels, "regions",
      G_TYPE_UINT, self->regions, "windows-lost", G_TYPE_UINT64, self->lost,
      "microseconds-pyramid", G_TYPE_DOUBLE, self->pyramid_us,
      "microseconds-group", G_TYPE_DOUBLE, self->group_us, NULL);
  waldboost_set_counts (stats, &sum);
  if (self->origins != NULL && self->origins->n > 1)
    set_models (stats, self);
  else
    set_segments (stats, &self->of[0]);
}
