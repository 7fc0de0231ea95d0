/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of visionwebsink and its statistics. */
#include "config.h"
#include "gstvisionwebsink.h"

#include <string.h>
#include "cuvfile.h"

#define AT(field) G_STRUCT_OFFSET (GstVisionWebSettings, field)

#define MAX_TOKEN 1024

/* ---- parsing ---- */

static const gchar *
text_or_null (const gchar *text)
{
  return text != NULL && *text != '\0' ? text : NULL;
}

static GInetAddress *
address_of (const GstVisionWebSettings *self)
{
  const gchar *text = self->address;

  if (text == NULL || g_str_equal (text, "localhost"))
    text = "127.0.0.1";
  return g_inet_address_new_from_string (text);
}

static gchar *
web_parse_address (gpointer settings)
{
  GInetAddress *address = address_of (settings);

  if (address == NULL)
    return g_strdup ("expected an IP address of this machine, such as "
                     "127.0.0.1, or 0.0.0.0 or :: for all");
  g_object_unref (address);
  return NULL;
}

static gchar *
web_parse_path (gpointer settings)
{
  return cuv_web_path_problem (((GstVisionWebSettings *) settings)->path);
}

/* Makes a token of text, without its final newline. Takes ownership of text. */
static gchar *
make_token (gchar *text, GBytes **token)
{
  gsize size;

  g_strchomp (text);
  size = strlen (text);
  if (size == 0 || size > MAX_TOKEN) {
    g_free (text);
    return g_strdup ("it must contain a token of 1 to " G_STRINGIFY (
        MAX_TOKEN) " characters");
  }
  *token = g_bytes_new_take (text, size);
  return NULL;
}

static gchar *
load_token (const gchar *path, GBytes **token)
{
  GError *error = NULL;
  gchar *text, *problem;

  g_clear_pointer (token, g_bytes_unref);
  if (path == NULL || *path == '\0')
    return NULL;
  if (cuv_file_read (path, CUV_FILE_MAX_SECRET, &text, NULL, &error))
    return make_token (text, token);
  problem = g_strdup_printf (
      "%s; set it to a readable file that contains the token", error->message);
  g_error_free (error);
  return problem;
}

static gchar *
web_parse_token_file (gpointer settings)
{
  GstVisionWebSettings *self = settings;

  return load_token (self->token_file, &self->file_token);
}

static gchar *
web_parse_read_token_file (gpointer settings)
{
  GstVisionWebSettings *self = settings;

  return load_token (self->read_token_file, &self->read_token);
}

static gchar *
web_parse_controls (gpointer settings)
{
  const GstVisionWebSettings *self = settings;

  return text_or_null (self->controls) != NULL
      ? cuv_controls_problem (self->controls)
      : NULL;
}

static gchar *
web_parse_token_env (gpointer settings)
{
  GstVisionWebSettings *self = settings;
  const gchar *text;

  g_clear_pointer (&self->env_token, g_bytes_unref);
  if (self->token_env == NULL || *self->token_env == '\0')
    return NULL;
  text = g_getenv (self->token_env);
  return text != NULL
      ? make_token (g_strdup (text), &self->env_token)
      : g_strdup ("expected the name of an environment variable that is set");
}

static gchar *
web_check (gconstpointer settings)
{
  const GstVisionWebSettings *self = settings;
  GBytes *token = gst_vision_web_settings_token (self);

  if (self->file_token != NULL && self->env_token != NULL)
    return g_strdup (
        "token-file and token-env are both set: set one of the two");
  if (self->read_token != NULL && token == NULL)
    return g_strdup ("read-token-file is set without a token for those who may "
                     "change controls: set token-file or token-env, too");
  if (self->read_token != NULL && g_bytes_equal (self->read_token, token))
    return g_strdup ("the token of read-token-file allows changing controls, "
                     "too: write another one into that file");
  if (text_or_null (self->settings_file) != NULL
      && text_or_null (self->controls) == NULL)
    return g_strdup ("settings-file is set without controls, whose values it "
                     "has: set controls, too");
  if (text_or_null (self->teach) != NULL
      && text_or_null (self->save_folder) == NULL)
    return g_strdup ("teach is set without save-folder: set both");
  if (text_or_null (self->controls) != NULL
      && gst_vision_web_settings_is_open (self))
    return g_strdup_printf ("everybody who can reach address %s could change "
                            "controls: set token-file or token-env, or "
                            "address=127.0.0.1",
        self->address);
  if (text_or_null (self->save_folder) != NULL
      && gst_vision_web_settings_is_open (self))
    return g_strdup_printf ("everybody who can reach address %s could write to "
                            "save-folder: set token-file or token-env, or "
                            "address=127.0.0.1",
        self->address);
  if (self->key != NULL && *self->key != '\0'
      && (self->certificate == NULL || *self->certificate == '\0'))
    return g_strdup (
        "tls-key-file is set without tls-certificate-file: set both");
  return NULL;
}

/* ---- what the settings mean ---- */

GBytes *
gst_vision_web_settings_token (const GstVisionWebSettings *settings)
{
  return settings->file_token != NULL ? settings->file_token
                                      : settings->env_token;
}

const gchar *
gst_vision_web_settings_controls (const GstVisionWebSettings *settings)
{
  return text_or_null (settings->controls);
}

const gchar *
gst_vision_web_settings_save_folder (const GstVisionWebSettings *settings)
{
  return text_or_null (settings->save_folder);
}

const gchar *
gst_vision_web_settings_teach (const GstVisionWebSettings *settings)
{
  return text_or_null (settings->teach);
}

CuvWebConfig
gst_vision_web_settings_config (const GstVisionWebSettings *settings)
{
  return (CuvWebConfig){
    .address = address_of (settings),
    .port = (guint) settings->port,
    .token = gst_vision_web_settings_token (settings),
    .read_token = settings->read_token,
    .certificate = text_or_null (settings->certificate),
    .key = text_or_null (settings->key),
    .allowed_hosts = text_or_null (settings->allowed_hosts),
    .timeout = (guint) settings->timeout,
  };
}

gboolean
gst_vision_web_settings_is_open (const GstVisionWebSettings *settings)
{
  GInetAddress *address = address_of (settings);
  gboolean local = g_inet_address_get_is_loopback (address);

  g_object_unref (address);
  return !local && gst_vision_web_settings_token (settings) == NULL;
}

/* ---- statistics ---- */

static void
subtract (GstVisionWebCounts *counts, const GstVisionWebCounts *before)
{
  counts->sent.sent -= before->sent.sent;
  counts->sent.bytes -= before->sent.bytes;
  counts->sent.dropped -= before->sent.dropped;
  counts->encoder.encoded -= before->encoder.encoded;
  counts->encoder.skipped -= before->encoder.skipped;
  counts->encoder.us -= before->encoder.us;
}

void
gst_vision_web_sink_get_counts (
    GstVisionWebSink *self, GstVisionWebCounts *counts)
{
  *counts = self->counts;
  if (!self->is_open)
    return;
  cuv_web_stream_get_counts (self->stream, &counts->sent);
  cuv_web_encoder_get_counts (self->encoder, &counts->encoder);
  counts->viewers = cuv_web_stream_viewers (self->stream);
  subtract (counts, &self->before);
}

static void
web_get_stats (GstElement *element, GValue *value)
{
  GstVisionWebSink *self = GST_VISION_WEB_SINK (element);
  GstVisionWebCounts counts;
  guint64 frames, us;

  GST_OBJECT_LOCK (self);
  gst_vision_web_sink_get_counts (self, &counts);
  frames = self->frames;
  us = (guint64) self->render_us;
  GST_OBJECT_UNLOCK (self);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, frames, "encoded",
          G_TYPE_UINT64, counts.encoder.encoded, "skipped", G_TYPE_UINT64,
          counts.encoder.skipped, "viewers", G_TYPE_UINT, counts.viewers,
          "sent", G_TYPE_UINT64, counts.sent.sent, "bytes", G_TYPE_UINT64,
          counts.sent.bytes, "dropped-viewers", G_TYPE_UINT64,
          counts.sent.dropped, "render-microseconds", G_TYPE_UINT64, us,
          "encode-microseconds", G_TYPE_UINT64, counts.encoder.us, NULL));
}

static void
web_get_url (GstElement *element, GValue *value)
{
  GST_OBJECT_LOCK (element);
  g_value_set_string (value, GST_VISION_WEB_SINK (element)->url);
  GST_OBJECT_UNLOCK (element);
}

/* ---- properties ---- */

/**
 * GstVisionWebSink:address:
 *
 * The IP address of this machine to listen on; 0.0.0.0 or :: means all
 * addresses. Other machines cannot reach the default, 127.0.0.1. Can change in
 * NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:port:
 *
 * The TCP port; 0 = any free port, which #GstVisionWebSink:url then contains.
 * Sinks of one process can share a port if they have different paths. Can
 * change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:path:
 *
 * The path of the page: "/", or a different one for each sink, such as "/door".
 * Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:url:
 *
 * The URL of the page, without the token, while the sink is started. If address
 * is 0.0.0.0 or ::, the URL is one that other machines can reach.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:token-file:
 *
 * A file with the token that viewers need. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:token-env:
 *
 * The name of an environment variable with the token that viewers need. Can
 * change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:read-token-file:
 *
 * A file with the token of viewers who must not change controls. Can change in
 * NULL and READY only.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:controls:
 *
 * Properties and action signals of elements in the same pipeline that viewers
 * may set and call, such as "detect.min-neighbors,track.set-target". At an
 * address that other machines can reach this needs a token. Can change in NULL
 * and READY only.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:settings-file:
 *
 * A JSON file with values of controls, which are set at the start and when
 * elements are added later. Viewers who may change controls can write it; it
 * need not exist before. Can change in NULL and READY only.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:save-folder:
 *
 * A folder for the pictures of frames that viewers mark objects in, and for
 * models that are trained from them. It is created if its parent exists. At an
 * address that other machines can reach this needs a token. Can change in NULL
 * and READY only.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:teach:
 *
 * The name of a waldboostdetect in the same pipeline, whose model and label
 * viewers can set to a model that was trained in #GstVisionWebSink:save-folder.
 * Can change in NULL and READY only.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:tls-certificate-file:
 *
 * A PEM file with the certificate to serve https with, and its key if
 * #GstVisionWebSink:tls-key-file is not set. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:tls-key-file:
 *
 * A PEM file with the certificate's key. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:allowed-hosts:
 *
 * Host names, separated by commas, by which browsers may reach the page, in
 * addition to IP addresses and localhost. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:timeout:
 *
 * Seconds after which a viewer that does not take a frame is dropped, and a
 * connection without a request is closed. Can change in NULL and READY only.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:health-timeout:
 *
 * Seconds without a frame after which /health answers 503.
 *
 * Since: 0.2
 */
/**
 * GstVisionWebSink:max-viewers:
 *
 * Maximum number of viewers of this sink at a time; more are refused. With
 * #GstVisionWebSink:read-token-file, up to 4 more who may change controls are
 * accepted.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:max-rate:
 *
 * Maximum number of frames per second that are shown; 0 = as many as viewers
 * take.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:max-width:
 *
 * Maximum width of the pictures in pixels; wider frames are scaled down. 0 = no
 * limit. Coordinates in records are always those of the frame.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:jpeg-quality:
 *
 * Quality of the pictures, 1 to 100.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:source:
 *
 * Name of the video's source, written in each record and in the page's title.
 *
 * Since: 0.1
 */
/**
 * GstVisionWebSink:stats:
 *
 * A structure of totals since the last change from READY to PAUSED: frames
 * (received), encoded, skipped (replaced by a newer frame), sent (to all
 * viewers), bytes (sent), dropped-viewers (which did not take a frame within
 * the timeout), render-microseconds (of the streaming thread) and
 * encode-microseconds (of the encoder's thread), all guint64; and viewers
 * (guint), the current number.
 *
 * Since: 0.1
 */
static const GstCuvSetting list[] = {
  { "address", "Address", "IP address to listen on (0.0.0.0 = all)",
      .offset = AT (address), .type = G_TYPE_STRING, .text = "127.0.0.1",
      .parse = web_parse_address, .only_stopped = TRUE },
  { "port", "Port", "TCP port to listen on (0 = any free one)",
      .offset = AT (port), .type = G_TYPE_UINT, .maximum = 65535, .value = 8080,
      .only_stopped = TRUE },
  { "path", "Path", "Path of the page, such as /door", .offset = AT (path),
      .type = G_TYPE_STRING, .text = "/", .parse = web_parse_path,
      .only_stopped = TRUE },
  { "token-file", "Token file",
      "Path of a file with the token that viewers need",
      .offset = AT (token_file), .type = G_TYPE_STRING,
      .parse = web_parse_token_file, .is_file = TRUE, .only_stopped = TRUE },
  { "token-env", "Token variable",
      "Name of an environment variable with the token that viewers need",
      .offset = AT (token_env), .type = G_TYPE_STRING,
      .parse = web_parse_token_env, .only_stopped = TRUE },
  { "read-token-file", "Read token file",
      "Path of a file with the token of viewers who must not change controls",
      .offset = AT (read_token_file), .type = G_TYPE_STRING,
      .parse = web_parse_read_token_file, .is_file = TRUE,
      .only_stopped = TRUE },
  { "controls", "Controls",
      "Properties and signals that viewers may use, such as "
      "detect.min-neighbors, separated by commas",
      .offset = AT (controls), .type = G_TYPE_STRING,
      .parse = web_parse_controls, .only_stopped = TRUE },
  { "settings-file", "Settings file",
      "Path of a JSON file with values of controls for the start, which "
      "viewers can write",
      .offset = AT (settings_file), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "save-folder", "Save folder",
      "Folder for pictures that viewers keep, and models trained from them",
      .offset = AT (save_folder), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "teach", "Teach",
      "Name of the waldboostdetect that viewers teach with save-folder",
      .offset = AT (teach), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "tls-certificate-file", "TLS certificate",
      "Path of a PEM file with the certificate for https",
      .offset = AT (certificate), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "tls-key-file", "TLS key", "Path of a PEM file with the certificate's key",
      .offset = AT (key), .type = G_TYPE_STRING, .only_stopped = TRUE },
  { "allowed-hosts", "Allowed hosts",
      "Host names under which browsers reach the page, separated by commas",
      .offset = AT (allowed_hosts), .type = G_TYPE_STRING,
      .only_stopped = TRUE },
  { "timeout", "Timeout",
      "Seconds after which viewers that do not take a frame are dropped",
      .offset = AT (timeout), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 3600, .value = 20, .only_stopped = TRUE },
  { "health-timeout", "Health timeout",
      "Seconds without a frame after which /health answers 503",
      .offset = AT (health_timeout), .type = G_TYPE_DOUBLE, .minimum = 0.01,
      .maximum = 86400, .value = 5 },
  { "max-viewers", "Maximum viewers", "Maximum number of viewers",
      .offset = AT (max_viewers), .type = G_TYPE_UINT, .minimum = 1,
      .maximum = 200, .value = 64 },
  { "max-rate", "Maximum rate",
      "Maximum number of frames per second that are shown (0 = all)",
      .offset = AT (max_rate), .type = G_TYPE_DOUBLE, .maximum = 1000 },
  { "max-width", "Maximum width",
      "Maximum width of the pictures in pixels (0 = no limit)",
      .offset = AT (max_width), .type = G_TYPE_UINT, .maximum = 65535 },
  { "jpeg-quality", "JPEG quality", "Quality of the pictures",
      .offset = AT (quality), .type = G_TYPE_UINT, .minimum = 1, .maximum = 100,
      .value = 85 },
  { "source", "Source", "Name of the video's source, written in each record",
      .offset = AT (source), .type = G_TYPE_STRING },
  { "url", .type = G_TYPE_STRING, .get = web_get_url, .nick = "URL",
      .blurb = "URL of the page, without the token" },
  { "stats", "Statistics", "Processing statistics",
      .get_type = gst_structure_get_type, .get = web_get_stats },
};

static const GstCuvOwnedField owned[] = {
  { AT (file_token), g_bytes_get_type },
  { AT (env_token), g_bytes_get_type },
  { AT (read_token), g_bytes_get_type },
};

const GstCuvSettingsTable gst_vision_web_settings_table = {
  GST_CUV_SETTINGS (GstVisionWebSettings, list),
  GST_CUV_OWNED_FIELDS (owned),
  .check = web_check,
};
