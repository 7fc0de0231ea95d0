/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metrics of a worker and its cameras, in Prometheus' text format 0.0.4. */
#include "config.h"

#include <string.h>

#include "farm-util.h"
#include "worker-private.h"

#define PREFIX "cuvision_farm_"

/* ---- the format ---- */

static void
begin_metric (
    GString *out, const gchar *name, const gchar *type, const gchar *help)
{
  g_string_append_printf (out,
      "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name,
      type);
}

static void
append_label (GString *out, const gchar *name, const gchar *value)
{
  if (out->str[out->len - 1] != '{')
    g_string_append_c (out, ',');
  g_string_append_printf (out, "%s=\"", name);
  for (; *value != '\0'; value++) {
    if (*value == '\n') {
      g_string_append (out, "\\n");
      continue;
    }
    if (*value == '"' || *value == '\\')
      g_string_append_c (out, '\\');
    g_string_append_c (out, *value);
  }
  g_string_append_c (out, '"');
}

static void
append_value (GString *out, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (
      out, " %s\n", g_ascii_formatd (text, sizeof text, "%.15g", value));
}

static void
append_one (GString *out, const gchar *name, const gchar *type,
    const gchar *help, gdouble value)
{
  begin_metric (out, name, type, help);
  g_string_append (out, PREFIX);
  g_string_append (out, name);
  append_value (out, value);
}

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
  { "camera_up", "gauge", "1 while the camera's pipeline plays, otherwise 0.",
      get_up },
  { "camera_restarts_total", "counter",
      "Restarts of the camera's pipeline by this worker.", get_restarts },
  { "camera_buffers_total", "counter",
      "Buffers that arrived at the sinks of the camera's pipeline.",
      get_buffers },
  { "camera_lease_age_seconds", "gauge",
      "Time since the camera's lease was taken or renewed.", get_age },
};

static void
append_camera_metric (
    GString *out, GPtrArray *cameras, const CameraMetric *metric)
{
  begin_metric (out, metric->name, metric->type, metric->help);
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = cameras->pdata[i];
    const JobInfo info = job_get_info (camera->job);

    g_string_append_printf (out, PREFIX "%s{", metric->name);
    append_label (out, "camera", camera->name);
    g_string_append_c (out, '}');
    append_value (out, metric->get (camera, &info));
  }
}

static void
append_states (GString *out, GPtrArray *cameras)
{
  begin_metric (out, "camera_state", "gauge",
      "1 for the state of the camera's pipeline.");
  for (guint i = 0; i < cameras->len; i++) {
    const Camera *camera = cameras->pdata[i];

    g_string_append (out, PREFIX "camera_state{");
    append_label (out, "camera", camera->name);
    append_label (
        out, "state", job_state_name (job_get_info (camera->job).state));
    g_string_append_c (out, '}');
    append_value (out, 1);
  }
}

/* ---- elements ---- */

typedef struct {
  const gchar *name, *type, *help;
  const gchar *field; /* in `stats`; NULL: all others, with a label `field` */
} ElementMetric;

static const ElementMetric element_metrics[] = {
  { "element_frames_total", "counter",
      "Frames that passed the element since the pipeline was started.",
      "frames" },
  { "element_skipped_total", "counter",
      "Frames that passed unanalysed since the pipeline was started.",
      "skipped" },
  { "element_stat", "gauge",
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
  g_string_append_printf (out, PREFIX "%s{", metric->name);
  append_label (out, "camera", camera->name);
  append_label (out, "element", element);
  if (metric->field == NULL)
    append_label (out, "field", field);
  g_string_append_c (out, '}');
  append_value (out, json_node_get_double (node));
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
  begin_metric (out, metric->name, metric->type, metric->help);
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
  begin_metric (
      out, "worker_info", "gauge", "Name and version of this worker.");
  g_string_append (out, PREFIX "worker_info{");
  append_label (out, "worker", self->config->name);
  append_label (out, "version", VERSION);
  g_string_append_c (out, '}');
  append_value (out, 1);
}

static void
append_worker (GString *out, Worker *self)
{
  append_info (out, self);
  append_one (out, "nats_connected", "gauge",
      "1 while the worker is connected to NATS, otherwise 0.",
      store_is_connected (self->store));
  append_one (out, "nats_disconnects_total", "counter",
      "Connections to NATS that were lost.", store_n_disconnects (self->store));
  append_one (out, "workers", "gauge",
      "Workers that are alive, this one included.",
      worker_count_workers (self));
  append_one (out, "cameras", "gauge", "Cameras in the bucket.",
      worker_count_cameras (self, FALSE));
  append_one (out, "cameras_unassigned", "gauge",
      "Cameras in the bucket whose lease no worker holds.",
      worker_count_cameras (self, TRUE));
  append_one (out, "leases_held", "gauge", "Leases that this worker holds.",
      worker_count_held (self));
  append_one (out, "leases_taken_total", "counter",
      "Leases that this worker took.", (gdouble) self->n_taken);
  append_one (out, "leases_lost_total", "counter",
      "Leases that this worker lost: expired or taken by another worker.",
      (gdouble) self->n_lost);
  append_one (out, "lease_renewals_total", "counter", "Renewals of leases.",
      (gdouble) self->n_renewals);
  append_one (out, "lease_renewal_failures_total", "counter",
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
