/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metrics of a worker and its cameras, in Prometheus' text format 0.0.4. */
#include "config.h"

#include <string.h>

#include "farm-util.h"
#include "http/exposition.h"
#include "worker-private.h"

#define PREFIX "cuvision_farm_"

/* ---- cameras ---- */

typedef struct {
  const gchar *name, *type, *help;
  gdouble (*get) (const Camera *camera, const JobInfo *info);
} CameraMetric;

static gdouble
get_up (const Camera *camera, const JobInfo *info)
{
  return info->state == JOB_PLAYING;
}

static gdouble
get_restarts (const Camera *camera, const JobInfo *info)
{
  return info->restarts;
}

static gdouble
get_buffers (const Camera *camera, const JobInfo *info)
{
  return (gdouble) info->buffers;
}

static gdouble
get_age (const Camera *camera, const JobInfo *info)
{
  return (gdouble) (farm_now () - camera->renewed) / G_USEC_PER_SEC;
}

static const CameraMetric camera_metrics[] = {
  { PREFIX "camera_up", "gauge",
      "1 while the camera's pipeline plays, otherwise 0.", get_up },
  { PREFIX "camera_restarts_total", "counter",
      "Restarts of the camera's pipeline by this worker.", get_restarts },
  { PREFIX "camera_buffers_total", "counter",
      "Buffers that arrived at the sinks of the camera's pipeline.",
      get_buffers },
  { PREFIX "camera_lease_age_seconds", "gauge",
      "Time since the camera's lease was taken or renewed.", get_age },
};

static void
append_camera_metric (
    GString *out, GPtrArray *cameras, const CameraMetric *metric)
{
  cuv_exposition_metric (out, metric->name, metric->type, metric->help);
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = cameras->pdata[i];
    const JobInfo info = job_get_info (camera->job);

    cuv_exposition_sample (out, metric->name);
    cuv_exposition_label (out, "camera", camera->name);
    cuv_exposition_value (out, metric->get (camera, &info));
  }
}

static void
append_states (GString *out, GPtrArray *cameras)
{
  cuv_exposition_metric (out, PREFIX "camera_state", "gauge",
      "1 for the state of the camera's pipeline.");
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = cameras->pdata[i];

    cuv_exposition_sample (out, PREFIX "camera_state");
    cuv_exposition_label (out, "camera", camera->name);
    cuv_exposition_label (
        out, "state", job_state_name (job_get_info (camera->job).state));
    cuv_exposition_value (out, 1);
  }
}

/* ---- elements ---- */

typedef struct {
  const gchar *name, *type, *help;
  const gchar *field; /* in `stats`; NULL: all others, with a label `field` */
} ElementMetric;

static const ElementMetric element_metrics[] = {
  { PREFIX "element_frames_total", "counter",
      "Frames that passed the element since the pipeline was started.",
      "frames" },
  { PREFIX "element_skipped_total", "counter",
      "Frames that passed unanalysed since the pipeline was started.",
      "skipped" },
  { PREFIX "element_stat", "gauge",
      "Any other number in the element's property stats.", NULL },
};

static gboolean
is_other (const gchar *field)
{
  return !g_str_equal (field, "frames") && !g_str_equal (field, "skipped");
}

static void
append_field (GString *out, const ElementMetric *metric, const Camera *camera,
    const gchar *element, const gchar *field, JsonNode *node)
{
  const GType type =
      JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : 0;

  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return;
  cuv_exposition_sample (out, metric->name);
  cuv_exposition_label (out, "camera", camera->name);
  cuv_exposition_label (out, "element", element);
  if (metric->field == NULL)
    cuv_exposition_label (out, "field", field);
  cuv_exposition_value (out, json_node_get_double (node));
}

static void
append_element (GString *out, const ElementMetric *metric, const Camera *camera,
    const gchar *element, JsonObject *stats)
{
  JsonObjectIter iter;
  const gchar *field;
  JsonNode *node;

  json_object_iter_init (&iter, stats);
  while (json_object_iter_next (&iter, &field, &node))
    if (metric->field != NULL ? g_str_equal (field, metric->field)
                              : is_other (field))
      append_field (out, metric, camera, element, field, node);
}

static void
append_element_metric (
    GString *out, GPtrArray *cameras, const ElementMetric *metric)
{
  cuv_exposition_metric (out, metric->name, metric->type, metric->help);
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = cameras->pdata[i];
    JsonObject *stats = job_get_info (camera->job).stats;
    JsonObjectIter iter;
    const gchar *element;
    JsonNode *node;

    if (stats == NULL)
      continue;
    json_object_iter_init (&iter, stats);
    while (json_object_iter_next (&iter, &element, &node))
      if (JSON_NODE_HOLDS_OBJECT (node))
        append_element (
            out, metric, camera, element, json_node_get_object (node));
  }
}

/* ---- the worker ---- */

static void
append_info (GString *out, const Worker *self)
{
  cuv_exposition_metric (
      out, PREFIX "worker_info", "gauge", "Name and version of this worker.");
  cuv_exposition_sample (out, PREFIX "worker_info");
  cuv_exposition_label (out, "worker", self->config->name);
  cuv_exposition_label (out, "version", VERSION);
  cuv_exposition_value (out, 1);
}

static void
append_worker (GString *out, Worker *self)
{
  append_info (out, self);
  cuv_exposition_single (out, PREFIX "nats_connected", "gauge",
      "1 while the worker is connected to NATS, otherwise 0.",
      store_is_connected (self->store));
  cuv_exposition_single (out, PREFIX "nats_disconnects_total", "counter",
      "Connections to NATS that were lost.", store_n_disconnects (self->store));
  cuv_exposition_single (out, PREFIX "workers", "gauge",
      "Workers that are alive, this one included.",
      worker_count_workers (self));
  cuv_exposition_single (out, PREFIX "cameras", "gauge",
      "Cameras in the bucket.", worker_count_cameras (self, FALSE));
  cuv_exposition_single (out, PREFIX "cameras_unassigned", "gauge",
      "Cameras in the bucket whose lease no worker holds.",
      worker_count_cameras (self, TRUE));
  cuv_exposition_single (out, PREFIX "leases_held", "gauge",
      "Leases that this worker holds.", worker_count_held (self));
  cuv_exposition_single (out, PREFIX "leases_taken_total", "counter",
      "Leases that this worker took.", (gdouble) self->n_taken);
  cuv_exposition_single (out, PREFIX "leases_lost_total", "counter",
      "Leases that this worker lost: expired or taken by another worker.",
      (gdouble) self->n_lost);
  cuv_exposition_single (out, PREFIX "lease_renewals_total", "counter",
      "Renewals of leases.", (gdouble) self->n_renewals);
  cuv_exposition_single (out, PREFIX "lease_renewal_failures_total", "counter",
      "Renewals that failed or were not answered.", (gdouble) self->n_failures);
}

static gint
compare_camera_names (gconstpointer a, gconstpointer b)
{
  return strcmp ((*(Camera *const *) a)->name, (*(Camera *const *) b)->name);
}

static GPtrArray *
list_running (const Worker *self)
{
  GPtrArray *cameras = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer camera;

  g_hash_table_iter_init (&iter, self->cameras);
  while (g_hash_table_iter_next (&iter, NULL, &camera))
    if (((Camera *) camera)->job != NULL)
      g_ptr_array_add (cameras, camera);
  g_ptr_array_sort (cameras, compare_camera_names);
  return cameras;
}

gchar *
worker_metrics (Worker *self)
{
  GPtrArray *cameras = list_running (self);
  GString *out = g_string_new (NULL);

  append_worker (out, self);
  for (guint i = 0; i < G_N_ELEMENTS (camera_metrics); i++)
    append_camera_metric (out, cameras, &camera_metrics[i]);
  append_states (out, cameras);
  for (guint i = 0; i < G_N_ELEMENTS (element_metrics); i++)
    append_element_metric (out, cameras, &element_metrics[i]);
  g_ptr_array_unref (cameras);
  return g_string_free (out, FALSE);
}

gboolean
worker_is_ready (Worker *self)
{
  return self->ready && self->stopped == NULL;
}
