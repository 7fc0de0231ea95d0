/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "controlled.h"

/* ---- instead of the server ---- */

static GAsyncQueue *texts;

static void
start_texts (void)
{
  texts = g_async_queue_new_full (g_free);
}

static void
end_texts (void)
{
  g_async_queue_unref (texts);
}
CUV_FIXTURE (start_texts, end_texts)

void
cuv_web_stream_send (CuvWebStream *stream, guint64 client, gchar *text)
{
  g_async_queue_push (texts, g_strdup_printf ("%d: %s", (gint) client, text));
  g_free (text);
}

guint
cuv_web_stream_clients (const CuvWebStream *stream)
{
  return 1;
}

gchar *
next_text (void)
{
  return g_async_queue_pop (texts);
}

guint
n_texts (void)
{
  return (guint) g_async_queue_length (texts);
}

void
expect_text (const gchar *expected)
{
  g_autofree gchar *text = next_text ();

  fail_unless_equals_string (text, expected);
}

void
expect_part (const gchar *part)
{
  g_autofree gchar *text = next_text ();

  fail_unless (strstr (text, part) != NULL, "no '%s' in '%s'", part, text);
}

/* ---- an element with properties of every type ---- */

typedef struct {
  GstElementClass parent;
} TestElementClass;

GType test_element_get_type (void);
G_DEFINE_TYPE (TestElement, test_element, GST_TYPE_ELEMENT)

enum {
  FIRST = 1,
  SLOW = FIRST,
  PICKY, /* an odd number, else the element warns and keeps its value */
  ROUND, /* an even number, else the element takes the next lower one */
};

static void
test_element_set (
    GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  TestElement *self = (TestElement *) object;

  if (id == SLOW) {
    g_atomic_int_inc (&self->n_slow);
    g_mutex_lock (&self->gate);
    g_mutex_unlock (&self->gate);
  }
  if (id == PICKY && g_value_get_int (value) % 2 == 0) {
    GST_ELEMENT_WARNING (
        self, LIBRARY, SETTINGS, ("picky must be odd."), (NULL));
    return;
  }
  GST_OBJECT_LOCK (self);
  g_value_copy (value, &self->values[id]);
  if (id == ROUND)
    g_value_set_int (&self->values[id], g_value_get_int (value) & ~1);
  GST_OBJECT_UNLOCK (self);
}

static void
test_element_get (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  TestElement *self = (TestElement *) object;

  GST_OBJECT_LOCK (self);
  g_value_copy (&self->values[id], value);
  GST_OBJECT_UNLOCK (self);
}

static gint
test_element_add (TestElement *self, gint a, gint b)
{
  return a + b;
}

static void
test_element_finalize (GObject *object)
{
  TestElement *self = (TestElement *) object;

  for (guint i = 0; i < G_N_ELEMENTS (self->values); i++)
    if (G_IS_VALUE (&self->values[i]))
      g_value_unset (&self->values[i]);
  g_mutex_clear (&self->gate);
  G_OBJECT_CLASS (test_element_parent_class)->finalize (object);
}

#define LIVE (G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING)
#define SPEC(type, name, ...)                                                  \
  g_param_spec_##type (name, name, "What " name " is", __VA_ARGS__)

static void
install_properties (GObjectClass *klass)
{
  GParamSpec *specs[] = {
    SPEC (int, "slow", 0, 100000, 0, LIVE),
    SPEC (int, "picky", 1, 9, 1, LIVE),
    SPEC (int, "round", 0, 9, 0, LIVE | G_PARAM_EXPLICIT_NOTIFY),
    SPEC (int, "int", -5, 5, 1, LIVE),
    SPEC (int, "negative", -9, -2, -5, LIVE),
    SPEC (uint, "uint", 0, G_MAXUINT, 7, LIVE),
    SPEC (int64, "int64", G_MININT64, G_MAXINT64, -1, LIVE),
    SPEC (uint64, "uint64", 2, G_MAXUINT64, 2, LIVE),
    SPEC (uchar, "uchar", 0, 200, 3, LIVE),
    SPEC (float, "float", 0.1F, 0.7F, 0.3F, LIVE),
    SPEC (double, "double", -G_MAXDOUBLE, G_MAXDOUBLE, 0.5, LIVE),
    SPEC (boolean, "boolean", TRUE, LIVE),
    SPEC (string, "string", "a", LIVE),
    SPEC (enum, "enum", GST_TYPE_FORMAT, GST_FORMAT_TIME, LIVE),
    SPEC (flags, "flags", GST_TYPE_SEEK_FLAGS, GST_SEEK_FLAG_FLUSH, LIVE),
    SPEC (int, "controllable", 0, 5, 1,
        G_PARAM_READWRITE | GST_PARAM_CONTROLLABLE),
    SPEC (int, "ready", 0, 5, 1, G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY),
    SPEC (int, "unknown", 0, 5, 1, G_PARAM_READWRITE),
    SPEC (int, "read-only", 0, 5, 1, G_PARAM_READABLE),
    SPEC (int, "construct", 0, 5, 1, LIVE | G_PARAM_CONSTRUCT_ONLY),
    SPEC (boxed, "caps", GST_TYPE_CAPS, LIVE),
  };

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    g_object_class_install_property (klass, FIRST + i, specs[i]);
}

static void
test_element_class_init (TestElementClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = test_element_set;
  object_class->get_property = test_element_get;
  object_class->finalize = test_element_finalize;
  install_properties (object_class);
  g_signal_new_class_handler ("add", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (test_element_add), NULL,
      NULL, NULL, G_TYPE_INT, 2, G_TYPE_INT, G_TYPE_INT);
  g_signal_new ("boxed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_ACTION, 0, NULL,
      NULL, NULL, G_TYPE_NONE, 1, GST_TYPE_CAPS);
  g_signal_new ("make-caps", G_TYPE_FROM_CLASS (klass), G_SIGNAL_ACTION, 0,
      NULL, NULL, NULL, GST_TYPE_CAPS, 0);
  g_signal_new ("no-action", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
      NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
test_element_init (TestElement *self)
{
  guint n;
  g_autofree GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (self), &n);

  g_mutex_init (&self->gate);
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == test_element_get_type ())
      g_value_copy (g_param_spec_get_default_value (specs[i]),
          g_value_init (&self->values[specs[i]->param_id],
              G_PARAM_SPEC_VALUE_TYPE (specs[i])));
}

/* ---- a pipeline ---- */

GstElement *
line_add (GstElement *bin, const gchar *name)
{
  GstElement *element =
      g_object_new (test_element_get_type (), "name", name, NULL);

  gst_bin_add (GST_BIN (bin), element);
  return element;
}

void
line_init (Line *self)
{
  GstElement *bin = gst_bin_new (NULL);

  *self = (Line){ .pipeline = gst_pipeline_new (NULL),
    .sink = gst_element_factory_make ("fakesink", NULL),
    .client = { .id = 3, .may_change = TRUE } };
  gst_bin_add_many (GST_BIN (self->pipeline), self->sink, bin, NULL);
  self->element = (TestElement *) line_add (bin, "e");
}

void
line_start (Line *self, const gchar *names)
{
  gchar *problem;

  line_init (self);
  self->controls = cuv_controls_new (self->sink, names, NULL, NULL, &problem);
  fail_unless (self->controls != NULL, "%s", problem);
  cuv_controls_start (self->controls, (CuvWebStream *) 1);
  cuv_controls_join (self->controls, self->client.id);
  g_free (problem);
}

void
line_stop (Line *self)
{
  cuv_controls_stop (self->controls);
  cuv_controls_unref (self->controls);
  gst_object_unref (self->pipeline);
}

gchar *
line_send (Line *self, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  return cuv_controls_message (
      self->controls, &self->client, text, strlen (text));
}

gchar *
line_set (Line *self, gint id, const gchar *name, const gchar *value)
{
  return line_send (self,
      "{\"type\":\"set\",\"id\":%d,\"control\":\"%s\",\"value\":%s}", id, name,
      value);
}

void
expect_refused (gchar *answer, const gchar *part)
{
  fail_unless (answer != NULL, "'%s' was not refused", part);
  fail_unless (strstr (answer, "\"type\":\"refused\"") != NULL
          && strstr (answer, part) != NULL,
      "no '%s' in '%s'", part, answer);
  g_free (answer);
}

void
skip_description (void)
{
  expect_part ("\"type\":\"controls\"");
}
