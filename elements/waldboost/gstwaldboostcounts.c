/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstwaldboostcounts.h"

void
gst_waldboost_counts_init (GstWaldboostCounts *self)
{
  self->segments = g_array_new (FALSE, TRUE, sizeof (guint64));
  self->survivors = g_array_new (FALSE, TRUE, sizeof (guint64));
}

void
gst_waldboost_counts_clear (GstWaldboostCounts *self)
{
  g_clear_pointer (&self->segments, g_array_unref);
  g_clear_pointer (&self->survivors, g_array_unref);
}

void
gst_waldboost_counts_begin (
    GstWaldboostCounts *self, const CuvWaldboostPlan *plan, guint64 lost)
{
  *self = (GstWaldboostCounts){
    .segments = self->segments, .survivors = self->survivors, .lost = lost
  };
  g_array_set_size (self->segments, 0);
  g_array_set_size (self->survivors, 0);
  g_array_set_size (self->survivors, plan->n_segments);
  for (gint i = 0; i < plan->n_segments; i++) {
    guint64 end = plan->segment_end[i];

    g_array_append_val (self->segments, end);
  }
}

void
gst_waldboost_counts_add (
    GstWaldboostCounts *self, const CuvWaldboostResult *result)
{
  self->windows += result->windows;
  self->weak += result->weak;
  self->accepted += result->n_hits;
  self->lost += result->overflow;
  self->pyramid_us += result->pyramid_us;
  self->scan_us += result->scan_us;
  for (guint i = 0; result->survivors != NULL && i < self->survivors->len; i++)
    g_array_index (self->survivors, guint64, i) += result->survivors[i];
}

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
  gst_structure_take_value (stats, name, &array);
}

void
gst_waldboost_counts_to_stats (
    const GstWaldboostCounts *self, GstStructure *stats)
{
  gst_structure_set (stats, "levels", G_TYPE_UINT, self->levels, "regions",
      G_TYPE_UINT, self->regions, "windows", G_TYPE_UINT64, self->windows,
      "windows-accepted", G_TYPE_UINT64, self->accepted, "windows-lost",
      G_TYPE_UINT64, self->lost, "objects", G_TYPE_UINT, self->objects,
      "weak-per-window", G_TYPE_DOUBLE,
      self->windows > 0 ? (gdouble) self->weak / (gdouble) self->windows : 0.,
      "microseconds-pyramid", G_TYPE_DOUBLE, self->pyramid_us,
      "microseconds-scan", G_TYPE_DOUBLE, self->scan_us, "microseconds-group",
      G_TYPE_DOUBLE, self->group_us, NULL);
  set_array (stats, "segments", self->segments);
  set_array (stats, "survivors", self->survivors);
}
