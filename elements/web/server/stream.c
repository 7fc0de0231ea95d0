/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a path and the viewers that wait for them; texts for the
 * clients of its controls. */
#include "server/server-private.h"

#include <string.h>

/* With a token for those who may only look, they leave connections
 * of the server to those who may change, who also get places on top of
 * max_viewers. */
#define RESERVED_VIEWERS 4
#define RESERVED_CONNECTIONS 16

/* ---- path ---- */

static gboolean
is_path_character (gchar c)
{
  return g_ascii_isalnum (c) || strchr ("-_.~/", c) != NULL;
}

gchar *
cuv_web_path_problem (const gchar *path)
{
  gboolean valid = path[0] == '/'
      && (path[1] == '\0' || !g_str_has_suffix (path, "/"))
      && strstr (path, "//") == NULL && strstr (path, "/.") == NULL;

  for (const gchar *c = path; *c != '\0' && valid; c++)
    valid = is_path_character (*c);
  if (!valid)
    return g_strdup ("expected / or a path such as /door: letters, digits and "
                     "- _ . ~, without a slash at the end");
  if (cuv_web_is_resource (strrchr (path, '/') + 1))
    return g_strdup_printf ("the name '%s' is reserved for a file that every "
                            "sink serves: choose another name",
        strrchr (path, '/') + 1);
  return NULL;
}

static gboolean
is_taken (const CuvWebServer *server, const gchar *path)
{
  for (guint i = 0; i < server->streams->len; i++)
    if (g_str_equal (((CuvWebStream *) server->streams->pdata[i])->path, path))
      return TRUE;
  return FALSE;
}

/* ---- adding and removing ---- */

typedef struct {
  guint64 client; /* 0: all */
  GBytes *text;
} CuvWebText;

static void
text_free (gpointer data)
{
  CuvWebText *self = data;

  g_bytes_unref (self->text);
  g_free (self);
}

static void
add_stream (gpointer data)
{
  CuvWebStream *self = data;

  if (!is_taken (self->server, self->path))
    g_ptr_array_add (self->server->streams, self);
  else
    self->server = NULL;
}

static void
remove_stream (gpointer data)
{
  CuvWebStream *self = data;

  g_ptr_array_remove (self->server->streams, self);
  g_ptr_array_set_size (self->viewers, 0);
  g_ptr_array_set_size (self->remotes, 0);
  g_clear_pointer (&self->newest, cuv_web_frame_unref);
}

static void
stream_free (CuvWebStream *self)
{
  g_clear_pointer (&self->published, cuv_web_frame_unref);
  g_queue_clear_full (&self->texts, text_free);
  g_ptr_array_unref (self->viewers);
  g_ptr_array_unref (self->remotes);
  g_mutex_clear (&self->lock);
  g_free (self->ticket);
  g_free (self->path);
  g_free (self);
}

CuvWebStream *
cuv_web_stream_new (CuvWebServer *server, const gchar *path, guint max_viewers,
    const CuvWebCalls *calls, gpointer data, GError **error)
{
  CuvWebStream *self = g_new0 (CuvWebStream, 1);

  self->server = server;
  self->path = g_strdup (path);
  self->ticket = cuv_web_make_ticket ();
  self->calls = calls;
  self->data = data;
  self->max_viewers = (gint) max_viewers;
  self->viewers = g_ptr_array_new_with_free_func (cuv_viewer_free);
  self->remotes = g_ptr_array_new_with_free_func (cuv_remote_free);
  g_queue_init (&self->texts);
  g_mutex_init (&self->lock);
  cuv_web_server_call (server, add_stream, self);
  if (self->server != NULL)
    return self;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS,
      "another visionwebsink of this process has path '%s' at %s: give each a "
      "path of its own",
      path, server->url);
  stream_free (self);
  return NULL;
}

const gchar *
cuv_web_stream_ticket (const CuvWebStream *self)
{
  return self->ticket;
}

void
cuv_web_stream_free (CuvWebStream *self)
{
  cuv_web_server_call (self->server, remove_stream, self);
  stream_free (self);
}

/* ---- viewers ---- */

void
cuv_web_stream_set_max_viewers (CuvWebStream *self, guint max_viewers)
{
  g_atomic_int_set (&self->max_viewers, (gint) max_viewers);
}

guint
cuv_web_stream_viewers (const CuvWebStream *self)
{
  return (guint) g_atomic_int_get (&self->n_viewers);
}

guint
cuv_web_stream_waiting (const CuvWebStream *self)
{
  return (guint) g_atomic_int_get (&self->n_waiting);
}

static guint
count_clients (const CuvWebServer *server)
{
  guint n = 0;

  for (guint i = 0; i < server->streams->len; i++) {
    const CuvWebStream *stream = server->streams->pdata[i];

    n += stream->viewers->len + stream->remotes->len;
  }
  return n;
}

gboolean
cuv_web_stream_has_room (
    const CuvWebStream *self, gboolean for_controls, CuvWebAccess access)
{
  const CuvWebServer *server = self->server;
  const gint n = (gint) (for_controls ? self->remotes : self->viewers)->len;
  const gint most = g_atomic_int_get (&self->max_viewers);

  if (server->read_token_digest == NULL)
    return n < most;
  if (access == CUV_WEB_CHANGE)
    return n < most + RESERVED_VIEWERS;
  return n < most
      && count_clients (server)
      < CUV_WEB_MAX_CONNECTIONS - RESERVED_CONNECTIONS;
}

void
cuv_web_stream_recount (CuvWebStream *self)
{
  gint waiting = 0;

  for (guint i = 0; i < self->viewers->len; i++)
    waiting += cuv_viewer_waits (self->viewers->pdata[i]);
  g_atomic_int_set (&self->n_viewers, (gint) self->viewers->len);
  g_atomic_int_set (&self->n_waiting, waiting);
  if (self->viewers->len == 0)
    g_clear_pointer (&self->newest, cuv_web_frame_unref);
  if (waiting > 0 || self->viewers->len == 0)
    self->calls->wake (self->data, waiting > 0);
}

/* ---- frames ---- */

guint64
cuv_web_stream_announce (CuvWebStream *self)
{
  guint64 serial;

  g_mutex_lock (&self->lock);
  serial = ++self->announced;
  g_mutex_unlock (&self->lock);
  return serial;
}

void
cuv_web_stream_flush (CuvWebStream *self)
{
  g_mutex_lock (&self->lock);
  self->flushed = ++self->announced;
  g_mutex_unlock (&self->lock);
}

gboolean
cuv_web_stream_is_stale (CuvWebStream *self)
{
  gboolean stale;

  g_mutex_lock (&self->lock);
  stale = self->newest == NULL
      || cuv_web_frame_serial (self->newest) < self->announced;
  g_mutex_unlock (&self->lock);
  return stale;
}

/* Returns the published frame; NULL if there is none, or it was flushed. */
static CuvWebFrame *
take_published (CuvWebStream *self)
{
  CuvWebFrame *frame;

  g_mutex_lock (&self->lock);
  frame = g_steal_pointer (&self->published);
  if (frame != NULL && cuv_web_frame_serial (frame) < self->flushed)
    g_clear_pointer (&frame, cuv_web_frame_unref);
  g_mutex_unlock (&self->lock);
  return frame;
}

static gboolean
deliver (gpointer data)
{
  CuvWebServer *server = data;

  for (guint i = 0; i < server->streams->len; i++) {
    CuvWebStream *self = server->streams->pdata[i];
    CuvWebFrame *frame = take_published (self);

    if (frame == NULL)
      continue;
    g_clear_pointer (&self->newest, cuv_web_frame_unref);
    self->newest = frame;
    for (guint v = 0; v < self->viewers->len; v++)
      cuv_viewer_offer (self->viewers->pdata[v]);
    cuv_web_stream_recount (self);
  }
  return G_SOURCE_REMOVE;
}

void
cuv_web_stream_publish (CuvWebStream *self, CuvWebFrame *frame)
{
  CuvWebFrame *before;

  g_mutex_lock (&self->lock);
  before = self->published;
  self->published = frame;
  g_mutex_unlock (&self->lock);
  if (before != NULL)
    cuv_web_frame_unref (before);
  g_main_context_invoke (self->server->context, deliver, self->server);
}

void
cuv_web_stream_count (CuvWebStream *self, gsize bytes)
{
  g_mutex_lock (&self->lock);
  self->counts.sent++;
  self->counts.bytes += bytes;
  g_mutex_unlock (&self->lock);
}

void
cuv_web_stream_count_dropped (CuvWebStream *self)
{
  g_mutex_lock (&self->lock);
  self->counts.dropped++;
  g_mutex_unlock (&self->lock);
}

void
cuv_web_stream_get_counts (CuvWebStream *self, CuvWebCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
}

/* ---- texts ---- */

static CuvWebText *
take_text (CuvWebStream *self)
{
  CuvWebText *text;

  g_mutex_lock (&self->lock);
  text = g_queue_pop_head (&self->texts);
  g_mutex_unlock (&self->lock);
  return text;
}

static gboolean
deliver_texts (gpointer data)
{
  CuvWebServer *server = data;
  CuvWebText *text;

  for (guint i = 0; i < server->streams->len; i++) {
    CuvWebStream *self = server->streams->pdata[i];

    while ((text = take_text (self)) != NULL) {
      for (guint r = self->remotes->len; r > 0; r--)
        cuv_remote_offer (
            self->remotes->pdata[r - 1], text->client, text->text);
      text_free (text);
    }
  }
  return G_SOURCE_REMOVE;
}

void
cuv_web_stream_send (CuvWebStream *self, guint64 client, gchar *text)
{
  CuvWebText *item = g_new (CuvWebText, 1);

  *item = (CuvWebText){ client, g_bytes_new_take (text, strlen (text)) };
  g_mutex_lock (&self->lock);
  g_queue_push_tail (&self->texts, item);
  g_mutex_unlock (&self->lock);
  g_main_context_invoke (self->server->context, deliver_texts, self->server);
}

guint
cuv_web_stream_changers (const CuvWebStream *self)
{
  return (guint) g_atomic_int_get (&self->n_changers);
}

guint
cuv_web_stream_clients (const CuvWebStream *self)
{
  return (guint) g_atomic_int_get (&self->n_remotes);
}
