/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "job.h"

#include <gio/gio.h>
#include <string.h>

#include "line.h"

#define REPORT_MS 1000
/* A line that stalls or whose camera changed has so long to end its files. */
#define RESTART_GRACE_MS 2000
/* Characters. */
#define MAX_ERROR 1000
#define WARNING_PAUSE (10 * G_USEC_PER_SEC)

struct _Job {
  const FarmConfig *config;
  gchar *camera;
  gchar *value;
  CuvLine *line; /* NULL: no process */
  JobState state;
  gint64 started;   /* the process */
  gint64 moved;     /* when the last buffer was seen, or the line started */
  gint64 play_time; /* when it began to play, 0: not yet */
  gint64 next;      /* attempt, in JOB_WAITING */
  gboolean ending;  /* the line was told to end */
  gboolean again;   /* at once after that: the value changed */
  gboolean unable;  /* to start the process */
  gchar *stall;     /* why we ended it */
  guint n_failures; /* in a row */
  guint restarts;
  guint64 buffers, buffers_before; /* of the process; of those before */
  gchar *error;
  gint64 logged; /* when */
  JsonObject *stats;
  void (*ended) (gpointer data);
  gpointer data;
};

const gchar *
job_state_name (JobState state)
{
  static const gchar *const names[] = { [JOB_STARTING] = "starting",
    [JOB_PLAYING] = "playing",
    [JOB_WAITING] = "waiting",
    [JOB_INVALID] = "invalid",
    [JOB_STOPPING] = "stopping" };

  return names[state];
}

/* ---- the line with its values ---- */

static gboolean
fail (GError **error, const gchar *text, const gchar *name)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, text, name);
  return FALSE;
}

static gchar *
text_of (JsonNode *node)
{
  switch (json_node_get_value_type (node)) {
    case G_TYPE_STRING:
      return json_node_dup_string (node);
    case G_TYPE_BOOLEAN:
      return g_strdup (json_node_get_boolean (node) ? "true" : "false");
    case G_TYPE_INT64:
      return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
    case G_TYPE_DOUBLE: {
      gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];

      return g_strdup (
          g_ascii_dtostr (buffer, sizeof buffer, json_node_get_double (node)));
    }
    default:
      return NULL;
  }
}

static gboolean
add_values (JsonObject *object, GHashTable *values, GError **error)
{
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *node;

  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &node)) {
    gchar *text = JSON_NODE_HOLDS_VALUE (node) ? text_of (node) : NULL;

    if (text == NULL)
      return fail (
          error, "\"%s\" is neither text, a number, true nor false", name);
    g_hash_table_insert (values, g_strdup (name), text);
  }
  return TRUE;
}

/* The parser's error may quote a password. */
static gboolean
parse_value (const gchar *value, GHashTable *values, GError **error)
{
  GError *problem = NULL;
  JsonObject *object = farm_parse_object (value, &problem);
  gboolean ok = object != NULL;

  if (ok)
    ok = add_values (object, values, error);
  else if (problem->domain == G_IO_ERROR
      || g_error_matches (
          problem, JSON_PARSER_ERROR, JSON_PARSER_ERROR_INVALID_DATA))
    fail (error, "the value is refused: %s", problem->message);
  else
    fail (error, "the value is not a JSON object like %s",
        "{\"location\": \"rtsp://...\"}");
  g_clear_error (&problem);
  g_clear_pointer (&object, json_object_unref);
  return ok;
}

/* A name in braces for which there is no value; visionpublish has {source} and
 * {kind} in topics itself. */
static gboolean
check_names (const gchar *line, GHashTable *values, GError **error)
{
  GRegex *regex = g_regex_new ("\\{([a-z][a-z0-9_-]*)\\}", 0, 0, NULL);
  GMatchInfo *match;
  gboolean ok = TRUE;

  g_regex_match (regex, line, 0, &match);
  while (ok && g_match_info_matches (match)) {
    gchar *name = g_match_info_fetch (match, 1);

    if (g_hash_table_lookup (values, name) == NULL
        && !g_str_equal (name, "source") && !g_str_equal (name, "kind"))
      ok =
          fail (error, "the line needs \"%s\", which the camera has not", name);
    g_free (name);
    g_match_info_next (match, NULL);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  return ok;
}

static gchar *
make_line (const Job *self, GError **error)
{
  GHashTable *values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gchar *expanded = NULL;

  if (parse_value (self->value, values, error)) {
    const gchar *name = g_hash_table_lookup (values, "line");
    const gchar *line =
        g_hash_table_lookup (self->config->lines, name != NULL ? name : "");
    gchar *group = g_strconcat ("[line", name != NULL ? " " : "", name, NULL);

    g_hash_table_insert (values, g_strdup ("camera"), g_strdup (self->camera));
    g_hash_table_insert (
        values, g_strdup ("worker"), g_strdup (self->config->name));
    if (line == NULL)
      fail (error, "the configuration has no group %s]", group);
    else if (check_names (line, values, error))
      expanded = cuv_line_expand (line, values, error);
    g_free (group);
  }
  g_hash_table_unref (values);
  return expanded;
}

/* ---- errors ---- */

/* A character as it is, or as lines, GStreamer's texts and URIs escape it. */
static void
append_character (GString *pattern, const gchar *at, gsize size)
{
  gchar *character = g_regex_escape_string (at, (gint) size);

  g_string_append_printf (pattern, "\\\\*(?:%s|", character);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (pattern, "\\\\+%03o", (guchar) at[i]);
  g_string_append_c (pattern, '|');
  for (gsize i = 0; i < size; i++)
    g_string_append_printf (pattern, "(?i:%%%02x)", (guchar) at[i]);
  g_string_append_c (pattern, ')');
  g_free (character);
}

static GRegex *
match_password (const gchar *password)
{
  GString *pattern = g_string_new (NULL);
  const gchar *next;
  GRegex *regex;

  for (const gchar *at = password; *at != '\0'; at = next) {
    next = g_utf8_next_char (at);
    append_character (pattern, at, (gsize) (next - at));
  }
  regex = g_regex_new (pattern->str, 0, 0, NULL);
  g_string_free (pattern, TRUE);
  return regex;
}

/* All of the text where the password is too odd for a pattern. */
static gchar *
hide_password (const gchar *text, const gchar *password)
{
  GRegex *regex = match_password (password);
  gchar *hidden = regex != NULL
      ? g_regex_replace_literal (regex, text, -1, 0, "***", 0, NULL)
      : NULL;

  g_clear_pointer (&regex, g_regex_unref);
  return hidden != NULL ? hidden : g_strdup ("***");
}

/* Leases have a limit. */
static gchar *
shorten (gchar *text)
{
  if (g_utf8_strlen (text, -1) > MAX_ERROR)
    *g_utf8_offset_to_pointer (text, MAX_ERROR) = '\0';
  return text;
}

/* Hides what "password" of the camera is, too. */
static gchar *
redact (const Job *self, const gchar *text)
{
  GHashTable *values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gchar *redacted = farm_redact (text);
  const gchar *password = parse_value (self->value, values, NULL)
      ? g_hash_table_lookup (values, "password")
      : NULL;

  if (password != NULL && *password != '\0') {
    gchar *hidden = hide_password (redacted, password);

    g_free (redacted);
    redacted = hidden;
  }
  g_hash_table_unref (values);
  return shorten (redacted);
}

/* Logged once, and not each time that it fails alike; what may have a number
 * that changes all the time, not too often. */
static void
set_error (Job *self, const gchar *text, gint64 pause)
{
  gchar *redacted = redact (self, text);

  if (g_strcmp0 (redacted, self->error) != 0
      && farm_now () - self->logged >= pause) {
    self->logged = farm_now ();
    farm_log ("camera %s: %s", self->camera, redacted);
  }
  g_free (self->error);
  self->error = redacted;
}

/* ---- the process ---- */

static void
on_progress (Job *self, JsonObject *report)
{
  const guint64 buffers =
      (guint64) json_object_get_int_member_with_default (report, "buffers", 0);

  if (buffers != self->buffers)
    self->moved = farm_now ();
  self->buffers = buffers;
  if (!json_object_has_member (report, "stats"))
    return;
  g_clear_pointer (&self->stats, json_object_unref);
  self->stats =
      json_object_ref (json_object_get_object_member (report, "stats"));
}

static void
on_report (gpointer data, JsonObject *report)
{
  Job *self = data;
  const gchar *warning =
      json_object_get_string_member_with_default (report, "warning", NULL);

  if (json_object_has_member (report, "buffers"))
    on_progress (self, report);
  if (warning != NULL)
    set_error (self, warning, WARNING_PAUSE);
  if (self->state != JOB_STARTING
      || g_strcmp0 (
             json_object_get_string_member_with_default (report, "state", NULL),
             "playing")
          != 0)
    return;
  self->state = JOB_PLAYING;
  self->play_time = self->moved = farm_now ();
}

/* Grows from attempt to attempt; random, so that cameras that fail together do
 * not start together. */
static gint64
next_pause (const Job *self)
{
  const gdouble factor = (gdouble) (1u << MIN (self->n_failures - 1, 20u));
  const gdouble pause = MIN ((gdouble) self->config->pause * factor,
      (gdouble) self->config->max_pause);

  return (gint64) (pause * g_random_double_range (0.75, 1.0));
}

static void
wait_for_next (Job *self)
{
  const gboolean lasted = self->play_time > 0
      && farm_now () - self->play_time >= self->config->max_pause;

  self->n_failures = lasted ? 1 : self->n_failures + 1;
  self->state = JOB_WAITING;
  self->next = farm_now () + (self->again ? 0 : next_pause (self));
  self->again = FALSE;
}

static void
on_done (gpointer data, const gchar *problem)
{
  Job *self = data;

  self->line = NULL;
  self->buffers_before += self->buffers;
  self->buffers = 0;
  if (self->stall != NULL)
    set_error (self, self->stall, 0);
  else if (!self->ending)
    set_error (self, problem != NULL ? problem : "the stream ended", 0);
  g_clear_pointer (&self->stall, g_free);
  if (self->ended != NULL) {
    self->ended (self->data);
    return;
  }
  wait_for_next (self);
}

static void
start (Job *self)
{
  GError *error = NULL;
  gchar *line = make_line (self, &error);

  self->ending = FALSE;
  self->play_time = 0;
  self->started = self->moved = farm_now ();
  if (line == NULL) {
    self->state = JOB_INVALID;
  } else {
    self->state = JOB_STARTING;
    self->line =
        cuv_line_start (line, REPORT_MS, on_report, on_done, self, &error);
    self->unable = self->line == NULL;
    if (self->unable)
      wait_for_next (self);
  }
  g_free (line);
  if (error != NULL)
    set_error (self, error->message, 0);
  g_clear_error (&error);
}

Job *
job_new (const FarmConfig *config, const gchar *camera, const gchar *value)
{
  Job *self = g_new0 (Job, 1);

  self->config = config;
  self->camera = g_strdup (camera);
  self->value = g_strdup (value);
  start (self);
  return self;
}

static void
end_line (Job *self, guint grace_ms)
{
  self->ending = TRUE;
  cuv_line_stop (self->line, grace_ms);
}

void
job_change (Job *self, const gchar *value)
{
  g_free (self->value);
  self->value = g_strdup (value);
  if (self->ended != NULL)
    return;
  self->n_failures = 0;
  if (self->line == NULL) {
    start (self);
    return;
  }
  self->again = TRUE;
  end_line (self, RESTART_GRACE_MS);
}

void
job_stop (Job *self, gint64 grace, void (*ended) (gpointer data), gpointer data)
{
  self->state = JOB_STOPPING;
  self->ended = ended;
  self->data = data;
  if (self->line == NULL)
    ended (data);
  else
    end_line (self, (guint) (grace / 1000));
}

static void
check_stall (Job *self)
{
  const FarmConfig *config = self->config;
  const gint64 now = farm_now ();

  if (self->state == JOB_STARTING
      && now - self->started > config->start_timeout)
    self->stall = g_strdup_printf ("does not play after %g seconds",
        (gdouble) config->start_timeout / G_USEC_PER_SEC);
  else if (self->state == JOB_PLAYING
      && now - self->moved > config->stall_timeout)
    self->stall = g_strdup_printf ("no buffers for %g seconds",
        (gdouble) config->stall_timeout / G_USEC_PER_SEC);
  if (self->stall != NULL)
    end_line (self, RESTART_GRACE_MS);
}

void
job_tick (Job *self)
{
  if (self->state == JOB_WAITING && farm_now () >= self->next) {
    self->restarts++;
    start (self);
  } else if (self->line != NULL && !self->ending) {
    check_stall (self);
  }
}

JobInfo
job_get_info (const Job *self)
{
  return (JobInfo){ .state = self->state,
    .unable = self->unable,
    .restarts = self->restarts,
    .buffers = self->buffers_before + self->buffers,
    .error = self->error,
    .stats = self->stats };
}

void
job_free (Job *self)
{
  g_clear_pointer (&self->stats, json_object_unref);
  g_free (self->camera);
  g_free (self->value);
  g_free (self->stall);
  g_free (self->error);
  g_free (self);
}
