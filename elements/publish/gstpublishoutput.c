/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstpublishoutput.h"

#include <string.h>

#include "cuvfile.h"
#include "cuvtls.h"
#include "gstpublishmetrics.h"
#include "homeassistant.h"
#include "output/outbox.h"
#include "output/topic.h"
#include "output/writer.h"

/* How long EOS and stopping wait for what is still queued. */
#define EOS_MS 10000
#define STOP_MS 2000
/* How long require-connection waits for the broker. */
#define CONNECT_MS 10000

/* How files of a format are written. */
typedef struct {
  CuvFraming framing;
  CuvTargetMode mode;
  /* Returns the text of one record, to be freed; json is empty before and
   * after. */
  gchar *(*make_record) (CuvJson *json, const CuvRecordFrame *frame,
      GstBuffer *buffer, gsize *size);
} Layout;

struct _GstCuvPublishOutput {
  CuvWriter *writer; /* writes to a file, otherwise NULL */
  const Layout *layout;

  GstElement *element;
  CuvOutbox *outbox; /* sends to a broker, otherwise NULL */
  gchar *topic;      /* a template */
  CuvTopicSyntax syntax;
  GstCuvPublishMetrics *metrics; /* NULL: none */
  gboolean keeps; /* unsent records stay in the file of spool-path */
  gchar *name;    /* name of the element, for records without a source */
};

/* ---- formats ---- */

static gchar *
make_json (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  cuv_record_to_json (json, frame, buffer);
  return cuv_json_steal (json, size);
}

static gchar *
make_json_line (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  cuv_record_to_json (json, frame, buffer);
  g_string_append_c (json->text, '\n');
  return cuv_json_steal (json, size);
}

static gchar *
make_csv (
    CuvJson *json, const CuvRecordFrame *frame, GstBuffer *buffer, gsize *size)
{
  GString *text = g_string_new (NULL);

  cuv_record_to_csv (text, frame, buffer);
  *size = text->len;
  return g_string_free (text, FALSE);
}

static const Layout *
layout_of (gint format)
{
  static const Layout layouts[] = {
    [GST_CUV_PUBLISH_JSON] = { { "[\n", ",\n", "\n]\n" }, CUV_TARGET_REPLACE,
        make_json },
    [GST_CUV_PUBLISH_JSON_LINES] = { { "", "", "" }, CUV_TARGET_SHARE,
        make_json_line },
    [GST_CUV_PUBLISH_CSV] = { { cuv_record_csv_header, "", "" },
        CUV_TARGET_APPEND, make_csv },
  };

  return &layouts[format];
}

/* ---- files ---- */

static gboolean
open_writer (GstCuvPublishOutput *self, GstElement *element,
    const GstCuvPublishSettings *settings)
{
  const gchar *path = settings->path;
  gboolean to_stdout =
      gst_cuv_publish_is_empty (path) || g_str_equal (path, "-");
  CuvTarget *target;
  GError *error = NULL;

  self->layout = layout_of (settings->format);
  target = cuv_target_file_new (to_stdout ? NULL : path, self->layout->mode);
  self->writer = cuv_writer_new (target, &self->layout->framing, &error);
  if (self->writer != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (element, RESOURCE, OPEN_WRITE,
      ("Cannot write to file-path '%s': %s.", to_stdout ? "-" : path,
          error->message),
      (NULL));
  g_error_free (error);
  return FALSE;
}

/* ---- brokers ---- */

static gchar *
none_if_empty (const gchar *text)
{
  return gst_cuv_publish_is_empty (text) ? NULL : g_strdup (text);
}

/* Checks at the start that the key matches its certificate: otherwise the
 * libraries would fail at each connection. */
static gboolean
check_key (const GstCuvPublishSettings *settings, GError **error)
{
  GTlsCertificate *pair;

  if (gst_cuv_publish_is_empty (settings->tls_key_file)
      || !cuv_tls_is_available ())
    return TRUE;
  pair = cuv_tls_load_certificate (
      settings->tls_certificate_file, settings->tls_key_file, error);
  if (pair == NULL) {
    g_prefix_error (error, "tls-certificate-file and tls-key-file: ");
    return FALSE;
  }
  g_object_unref (pair);
  return TRUE;
}

/* Checks at the start that files are readable: otherwise the libraries would
 * fail when they connect. */
static gboolean
check_files (const GstCuvPublishSettings *settings, GError **error)
{
  const gchar *const files[][2] = { { "tls-ca-file", settings->tls_ca_file },
    { "tls-certificate-file", settings->tls_certificate_file },
    { "tls-key-file", settings->tls_key_file } };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    if (gst_cuv_publish_is_empty (files[i][1])
        || cuv_file_check (files[i][1], error))
      continue;
    g_prefix_error (error, "%s: ", files[i][0]);
    return FALSE;
  }
  return check_key (settings, error);
}

/* Messages name the file or the variable, never the password. */
static gboolean
read_password (
    const GstCuvPublishSettings *settings, gchar **password, GError **error)
{
  *password = NULL;
  if (!gst_cuv_publish_is_empty (settings->password_file)) {
    if (!cuv_file_read (settings->password_file, CUV_FILE_MAX_SECRET, password,
            NULL, error))
      return FALSE;
    (*password)[strcspn (*password, "\r\n")] = '\0';
  } else if (!gst_cuv_publish_is_empty (settings->password_env)) {
    *password = g_strdup (g_getenv (settings->password_env));
    if (*password == NULL) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
          "the environment variable '%s' (password-env) is not set",
          settings->password_env);
      return FALSE;
    }
  }
  return TRUE;
}

static gchar *
make_status_topic (
    const GstCuvPublishOutput *self, const GstCuvPublishSettings *settings)
{
  return cuv_topic_has_kind (self->topic)
      ? cuv_topic_expand (self->topic, self->syntax,
          settings->source != NULL ? settings->source : self->name,
          CUV_TOPIC_STATUS)
      : NULL;
}

static gchar *
make_birth_topic (const GstCuvPublishSettings *settings)
{
  if (settings->discovery != GST_CUV_PUBLISH_HOME_ASSISTANT)
    return NULL;
  return g_strconcat (
      settings->discovery_prefix, "/" CUV_HOME_ASSISTANT_BIRTH, NULL);
}

static CuvBroker *
make_broker (GstCuvPublishOutput *self, const GstCuvPublishSettings *settings,
    GError **error)
{
  CuvBrokerConfig config = {
    .address = g_strdup (settings->address),
    .client_id = none_if_empty (settings->client_id),
    .user = none_if_empty (settings->user),
    .sasl = (CuvSasl) settings->sasl,
    .tls = (CuvTls) settings->tls,
    .mqtt_version = (CuvMqttVersion) settings->mqtt_version,
    .ca_file = none_if_empty (settings->tls_ca_file),
    .certificate_file = none_if_empty (settings->tls_certificate_file),
    .key_file = none_if_empty (settings->tls_key_file),
    .keep_alive = settings->keep_alive,
    .status_topic = make_status_topic (self, settings),
    .birth_topic = make_birth_topic (settings),
  };
  CuvBroker *broker = NULL;

  if (check_files (settings, error)
      && read_password (settings, &config.password, error))
    broker = settings->target == GST_CUV_PUBLISH_MQTT
        ? cuv_broker_mqtt_new (&config, error)
        : cuv_broker_kafka_new (&config, error);
  cuv_broker_config_clear (&config);
  return broker;
}

static CuvSpool *
make_spool (const GstCuvPublishSettings *settings, GError **error)
{
  gchar *path = none_if_empty (settings->spool_path);
  CuvSpool *spool = cuv_spool_new (
      path, settings->queue_bytes, settings->queue_records, error);

  if (spool == NULL && path != NULL)
    g_prefix_error (error, "spool-path '%s': ", path);
  g_free (path);
  return spool;
}

static gboolean
make_outbox (GstCuvPublishOutput *self, const GstCuvPublishSettings *settings,
    GError **error)
{
  CuvBroker *broker;
  CuvSpool *spool;

  if (!cuv_topic_check (self->topic, self->syntax, error))
    return FALSE;
  broker = make_broker (self, settings, error);
  if (broker == NULL)
    return FALSE;
  spool = make_spool (settings, error);
  self->keeps = !gst_cuv_publish_is_empty (settings->spool_path);
  if (spool == NULL) {
    broker->klass->free (broker);
    return FALSE;
  }
  self->outbox =
      cuv_outbox_new (broker, spool, (CuvFull) settings->on_full, error);
  return self->outbox != NULL
      && (!settings->require_connection
          || cuv_outbox_wait_connected (self->outbox, CONNECT_MS, error));
}

static void
make_metrics (GstCuvPublishOutput *self, const GstCuvPublishSettings *settings)
{
  const GstCuvPublishMetricsConfig config = {
    .outbox = self->outbox,
    .topic = self->topic,
    .source = settings->source != NULL ? settings->source : self->name,
    .interval = (gint64) (settings->metrics_interval * G_USEC_PER_SEC),
    .discovery = settings->discovery == GST_CUV_PUBLISH_HOME_ASSISTANT
        ? settings->discovery_prefix
        : NULL,
  };

  if (settings->metrics != GST_CUV_PUBLISH_NO_METRICS)
    self->metrics = gst_cuv_publish_metrics_new (&config);
}

static gboolean
open_outbox (GstCuvPublishOutput *self, GstElement *element,
    const GstCuvPublishSettings *settings)
{
  gboolean kafka = settings->target == GST_CUV_PUBLISH_KAFKA;
  GError *error = NULL;

  self->syntax = kafka ? CUV_TOPIC_KAFKA : CUV_TOPIC_MQTT;
  self->topic = none_if_empty (settings->topic);
  if (self->topic == NULL)
    self->topic =
        g_strdup (kafka ? "cameras.{kind}" : "cameras/{source}/{kind}");
  self->name = gst_element_get_name (element);
  if (make_outbox (self, settings, &error)) {
    make_metrics (self, settings);
    return TRUE;
  }
  GST_ELEMENT_ERROR (element, RESOURCE, OPEN_WRITE,
      ("Cannot publish to %s '%s': %s.", kafka ? "kafka" : "mqtt",
          settings->address, error->message),
      (NULL));
  g_error_free (error);
  return FALSE;
}

static void
send (GstCuvPublishOutput *self, CuvJson *json, const CuvRecordFrame *frame,
    GstBuffer *buffer)
{
  const gchar *source = frame->source != NULL ? frame->source : self->name;
  gchar *topic =
      cuv_topic_expand (self->topic, self->syntax, source, CUV_TOPIC_RECORDS);
  CuvMessage message = { topic, source, NULL, 0 };

  message.text = make_json (json, frame, buffer, &message.size);
  while (!cuv_outbox_push (self->outbox, &message))
    gst_cuv_publish_output_post_warning (self);
  g_free ((gchar *) message.text);
  g_free (topic);
}

/* ---- files and brokers ---- */

static void
free_output (GstCuvPublishOutput *self)
{
  g_clear_pointer (&self->metrics, gst_cuv_publish_metrics_free);
  g_free (self->topic);
  g_free (self->name);
  g_free (self);
}

GstCuvPublishOutput *
gst_cuv_publish_output_new (
    GstElement *element, const GstCuvPublishSettings *settings)
{
  GstCuvPublishOutput *self = g_new0 (GstCuvPublishOutput, 1);
  gboolean ok;

  self->element = element;
  ok = settings->target == GST_CUV_PUBLISH_FILE
      ? open_writer (self, element, settings)
      : open_outbox (self, element, settings);

  if (ok)
    return self;
  if (self->outbox != NULL) {
    CuvOutboxCounts counts;
    gchar *warning;

    cuv_outbox_stop (self->outbox, 0, &counts, &warning);
    g_free (warning);
  }
  free_output (self);
  return NULL;
}

void
gst_cuv_publish_output_push (GstCuvPublishOutput *self, CuvJson *json,
    const CuvRecordFrame *frame, GstBuffer *buffer)
{
  gchar *text;
  gsize size;

  if (self->outbox != NULL) {
    send (self, json, frame, buffer);
    return;
  }
  text = self->layout->make_record (json, frame, buffer, &size);
  cuv_writer_push (self->writer, text, size);
}

void
gst_cuv_publish_output_push_metrics (
    GstCuvPublishOutput *self, GstBuffer *buffer)
{
  if (self->metrics == NULL
      || gst_cuv_publish_metrics_push (self->metrics, buffer))
    return;
  GST_ELEMENT_WARNING (self->element, RESOURCE, NO_SPACE_LEFT,
      ("Some metrics are not published: the limits are %u rows, %u tables and "
       "%u bytes for the name of a row. Use fewer rows, such as zones, or "
       "shorter names.",
          GST_CUV_PUBLISH_MAX_ROWS, GST_CUV_PUBLISH_MAX_TABLES,
          GST_CUV_PUBLISH_MAX_NAME),
      (NULL));
}

static void
finish_outbox (GstCuvPublishOutput *self)
{
  CuvOutboxCounts counts;

  if (cuv_outbox_finish (self->outbox, EOS_MS) || self->keeps)
    return;
  gst_cuv_publish_output_post_warning (self); /* the cause first */
  cuv_outbox_get_counts (self->outbox, &counts);
  GST_ELEMENT_WARNING (self->element, RESOURCE, WRITE,
      ("The stream has ended, but the broker has not acknowledged "
       "%" G_GUINT64_FORMAT " records: they are lost if it does not do so "
       "before this element stops. Set spool-path to keep them.",
          (guint64) counts.queued),
      (NULL));
}

void
gst_cuv_publish_output_finish (GstCuvPublishOutput *self)
{
  if (self->outbox != NULL)
    finish_outbox (self);
  else
    cuv_writer_finish (self->writer, EOS_MS);
}

void
gst_cuv_publish_output_reopen (GstCuvPublishOutput *self)
{
  if (self->writer != NULL)
    cuv_writer_reopen (self->writer);
}

void
gst_cuv_publish_output_interrupt (GstCuvPublishOutput *self, gboolean interrupt)
{
  if (self->outbox != NULL)
    cuv_outbox_interrupt (self->outbox, interrupt);
  else
    cuv_writer_interrupt (self->writer, interrupt);
}

/* Takes ownership of the text, which may be NULL. */
static void
post_warning (GstElement *element, gchar *text)
{
  if (text == NULL)
    return;
  GST_ELEMENT_WARNING (element, RESOURCE, WRITE, ("%s", text), (NULL));
  g_free (text);
}

void
gst_cuv_publish_output_post_warning (GstCuvPublishOutput *self)
{
  post_warning (self->element,
      self->outbox != NULL ? cuv_outbox_take_warning (self->outbox)
                           : cuv_writer_take_warning (self->writer));
}

static void
set_counts (GstStructure *stats, guint64 records, guint64 dropped,
    guint64 bytes, guint64 queue)
{
  gst_structure_set (stats, "records", G_TYPE_UINT64, records, "dropped",
      G_TYPE_UINT64, dropped, "bytes", G_TYPE_UINT64, bytes, "queue",
      G_TYPE_UINT, (guint) MIN (queue, G_MAXUINT), NULL);
}

static void
set_outbox_counts (GstStructure *stats, const CuvOutboxCounts *counts)
{
  set_counts (stats, counts->acknowledged, counts->dropped, counts->bytes,
      counts->queued);
  gst_structure_set (stats, "sent", G_TYPE_UINT64, counts->sent, "acknowledged",
      G_TYPE_UINT64, counts->acknowledged, "spooled", G_TYPE_UINT64,
      counts->spooled, "reconnects", G_TYPE_UINT64, counts->reconnects,
      "metrics", G_TYPE_UINT64, counts->retained, "metrics-sent", G_TYPE_UINT64,
      counts->retained_sent, "connected", G_TYPE_BOOLEAN, counts->connected,
      "last-error", G_TYPE_STRING, counts->last_error, NULL);
}

void
gst_cuv_publish_output_get_stats (
    GstCuvPublishOutput *self, GstStructure *stats)
{
  CuvOutboxCounts outbox;
  CuvWriterCounts writer;

  if (self->outbox != NULL) {
    cuv_outbox_get_counts (self->outbox, &outbox);
    set_outbox_counts (stats, &outbox);
  } else {
    cuv_writer_get_counts (self->writer, &writer);
    set_counts (
        stats, writer.records, writer.dropped, writer.bytes, writer.queue);
  }
}

void
gst_cuv_publish_output_stop (GstCuvPublishOutput *self, GstStructure *stats)
{
  GstElement *element = self->element;
  CuvOutboxCounts outbox;
  CuvWriterCounts writer;
  gchar *warning;

  if (self->outbox != NULL) {
    cuv_outbox_stop (self->outbox, STOP_MS, &outbox, &warning);
    set_outbox_counts (stats, &outbox);
  } else {
    cuv_writer_stop (self->writer, STOP_MS, &writer, &warning);
    set_counts (
        stats, writer.records, writer.dropped, writer.bytes, writer.queue);
  }
  free_output (self);
  post_warning (element, warning);
}
