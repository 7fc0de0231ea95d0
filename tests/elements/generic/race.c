/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests every element while frames pass and other threads set and read its
 * properties, query its latency and emit its signals. Run it under the
 * sanitizers. */
#include "random.h"

#include <glib/gstdio.h>

#define SOURCE                                                                 \
  "videotestsrc pattern=ball ! "                                               \
  "video/x-raw,format=%s,width=96,height=64,framerate=100/1 ! "

#define N_ITERATIONS 1000 /* per thread */

static GPtrArray *names;
static gchar *location;

/* Returns a format that the element takes, or NULL. */
static const gchar *
format_of (const gchar *name)
{
  static const gchar *const formats[] = { "NV12", "RGB", "GRAY8" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (cuv_element_takes (name, formats[i]))
      return formats[i];
  return NULL;
}

static gpointer
set (gpointer element)
{
  g_autoptr (GPtrArray) properties = random_properties (element);

  for (guint i = 0; i < N_ITERATIONS; i++) {
    random_set (element, properties);
    g_usleep (100);
  }
  return NULL;
}

static gpointer
get (gpointer element)
{
  for (guint i = 0; i < N_ITERATIONS; i++) {
    GstQuery *query = gst_query_new_latency ();

    random_get (element);
    gst_element_query (element, query);
    gst_query_unref (query);
    g_usleep (100);
  }
  return NULL;
}

/* Only rcdtrack has action signals. */
static gpointer
emit_signals (gpointer element)
{
  if (g_signal_lookup ("set-target", G_OBJECT_TYPE (element)) == 0)
    return NULL;
  for (guint i = 0; i < N_ITERATIONS; i++) {
    gint id;

    if (once_in (3))
      g_signal_emit_by_name (element, "clear-target");
    else
      g_signal_emit_by_name (element, "set-target", (gint) below (40),
          (gint) below (30), 8 + (gint) below (20), 8 + (gint) below (20), &id);
    g_usleep (100);
  }
  return NULL;
}

static GstElement *
make_pipeline (const gchar *name, GstElement **element)
{
  g_autofree gchar *line =
      g_strdup_printf (SOURCE "%s name=element", format_of (name), name);
  GstElement *pipeline = cuv_pipeline_new (line), *sink;

  *element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (*element), "location")
      != NULL)
    g_object_set (*element, "location", location, NULL);
  if (!GST_OBJECT_FLAG_IS_SET (*element, GST_ELEMENT_FLAG_SINK)) {
    sink = gst_element_factory_make ("fakesink", NULL);
    gst_bin_add (GST_BIN (pipeline), sink);
    fail_unless (gst_element_link (*element, sink));
  }
  return pipeline;
}

/* Contradictory settings may end a pipeline early. */
CUV_LOOP_TEST (survives_races, names->len)
{
  static const GThreadFunc functions[] = { set, get, emit_signals };
  GThread *threads[G_N_ELEMENTS (functions)];
  GstElement *element,
      *pipeline = make_pipeline (names->pdata[__i__], &element);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    threads[i] = g_thread_new ("race", functions[i], element);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    g_thread_join (threads[i]);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_print ("%s ", (gchar *) names->pdata[__i__]);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_unlink (location);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  GPtrArray *all = cuv_element_names ();

  location =
      g_strdup_printf ("%s/race-%d.ldp", g_get_tmp_dir (), (gint) getpid ());
  names = g_ptr_array_new ();
  for (guint i = 0; i < all->len; i++)
    if (format_of (all->pdata[i]) != NULL)
      g_ptr_array_add (names, all->pdata[i]);
  tcase_set_timeout (tcase, 3600);
}
