/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests of viewers to visionwebsink's controls, and elements that come, go
 * and block. */
#include "controlled.h"

#include <unistd.h>

/* ---- requests ---- */

CUV_TEST (requests_that_are_refused)
{
  Line line;

  line_start (&line, "e.int,e.add,none.x");
  expect_refused (
      line_set (&line, 1, "e.uint", "1"), "not in the property controls");
  expect_refused (line_set (&line, 2, "none.x", "1"), "no element 'none'");
  expect_refused (line_set (&line, 3, "e.add", "1"), "use type call");
  expect_refused (line_set (&line, 3, "e.int", "1"), "ids must increase");
  expect_refused (line_send (&line,
                      "{\"type\":\"call\",\"id\":4,\"control\":"
                      "\"e.int\",\"arguments\":[1]}"),
      "use type set");
  expect_refused (line_send (&line,
                      "{\"type\":\"call\",\"id\":5,\"control\":"
                      "\"e.add\",\"arguments\":[1]}"),
      "expected 2 arguments");
  expect_refused (line_send (&line,
                      "{\"type\":\"call\",\"id\":6,\"control\":"
                      "\"e.add\",\"arguments\":[1,\"2\"]}"),
      "argument 2: expected a whole number");
  line.client.may_change = FALSE;
  expect_refused (line_set (&line, 7, "e.int", "1"), "looking only");
  line_stop (&line);
}

CUV_TEST (calls)
{
  Line line;

  line_start (&line, "e.add");
  skip_description ();
  fail_unless (line_send (&line,
                   "{\"type\":\"call\",\"id\":1,\"control\":\"e.add\","
                   "\"arguments\":[2,-7]}")
      == NULL);
  expect_text (
      "3: {\"control\":\"e.add\",\"id\":1,\"type\":\"done\",\"value\":-5}");
  line_stop (&line);
}

CUV_TEST (what_the_element_refuses)
{
  Line line;

  line_start (&line, "e.picky,e.round");
  skip_description ();
  line_set (&line, 1, "e.picky", "4");
  expect_text ("0: {\"type\":\"values\",\"values\":{\"e.picky\":1}}");
  expect_text ("3: {\"control\":\"e.picky\",\"id\":1,\"reason\":\"picky must "
               "be odd.\",\"type\":\"refused\"}");
  line_set (&line, 2, "e.picky", "5");
  expect_part ("{\"e.picky\":5}");
  expect_part ("\"done\"");
  line_set (&line, 3, "e.round", "5");
  expect_part ("{\"e.round\":4}");
  expect_part ("another value");
  line_stop (&line);
}

CUV_TEST (what_others_do)
{
  Line line;

  line_start (&line, "e.int");
  skip_description ();
  g_object_set (line.element, "int", 4, NULL);
  expect_text ("0: {\"type\":\"values\",\"values\":{\"e.int\":4}}");
  GST_ELEMENT_WARNING (
      line.element, STREAM, FAILED, ("Too dark."), ("details"));
  expect_text (
      "0: {\"element\":\"e\",\"text\":\"Too dark.\",\"type\":\"warning\"}");
  line_stop (&line);
}

/* The last value wins, and the element is not set more often than it can be. */
CUV_TEST (many_values)
{
  Line line;

  line_start (&line, "e.slow");
  skip_description ();
  g_mutex_lock (&line.element->gate);
  for (gint i = 1; i <= 10000; i++) {
    g_autofree gchar *value = g_strdup_printf ("%d", i);

    fail_unless (line_set (&line, i, "e.slow", value) == NULL);
  }
  while (g_atomic_int_get (&line.element->n_slow) == 0)
    g_usleep (1000);
  line.client.id = 4;
  line_set (&line, 10001, "e.slow", "20000");
  line_set (&line, 10002, "e.slow", "20001");
  g_mutex_unlock (&line.element->gate);
  for (gboolean last = FALSE; !last;) {
    g_autofree gchar *text = next_text ();

    last = strstr (text, "4: ") != NULL && strstr (text, "20001") != NULL;
  }
  fail_unless (g_atomic_int_get (&line.element->n_slow) <= 3);
  line_stop (&line);
}

CUV_TEST (overtaken_by_another_viewer)
{
  Line line;

  line_start (&line, "e.slow");
  skip_description ();
  g_mutex_lock (&line.element->gate);
  line_set (&line, 1, "e.slow", "1");
  while (g_atomic_int_get (&line.element->n_slow) == 0)
    g_usleep (1000);
  line_set (&line, 2, "e.slow", "2");
  line.client.id = 4;
  line_set (&line, 3, "e.slow", "3");
  expect_text (
      "3: {\"control\":\"e.slow\",\"id\":2,\"reason\":\"another viewer "
      "changed it at the same time\",\"type\":\"refused\"}");
  g_mutex_unlock (&line.element->gate);
  line_stop (&line);
}

/* ---- settings-file ---- */

/* Starts with the values of a file, whose path it returns, to be freed. Sets
 * problem to why they were refused, or NULL. */
static gchar *
start_with (Line *line, const gchar *values, gboolean block, gchar **problem)
{
  g_autofree gchar *missing = NULL;
  gchar *path;
  g_autofree gchar *text =
      g_strdup_printf ("{\"visionwebsink\":1,\"values\":{%s}}", values);
  const gint fd = g_file_open_tmp (NULL, &path, NULL);

  close (fd);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  line_init (line);
  if (block)
    g_mutex_lock (&line->element->gate);
  line->controls = cuv_controls_new (line->sink,
      "e.slow,e.picky,e.round,e.uint64,e.string", path, NULL, &missing);
  fail_unless (line->controls != NULL, "%s", missing);
  cuv_controls_start (line->controls, (CuvWebStream *) 1);
  unlink (path);
  *problem = cuv_controls_settle (line->controls);
  return path;
}

CUV_TEST (settings_that_the_element_refuses)
{
  static const gchar *const cases[][2] = {
    { "\"e.picky\":4", "e.picky: picky must be odd." },
    { "\"e.round\":5", "e.round: the element has set another value" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Line line;
    g_autofree gchar *problem = NULL;
    g_autofree gchar *path = start_with (&line, cases[i][0], FALSE, &problem);

    fail_unless (problem != NULL && strstr (problem, cases[i][1]) != NULL
            && strstr (problem, path) != NULL,
        "%s", problem);
    line_stop (&line);
  }
}

/* A value in force is not set again. */
CUV_TEST (settings_in_force)
{
  g_autofree gchar *path = NULL, *problem = NULL;
  gint picky;
  Line line;

  path = start_with (&line, "\"e.slow\":0,\"e.picky\":3", FALSE, &problem);
  fail_unless (problem == NULL, "%s", problem);
  fail_unless_equals_int (g_atomic_int_get (&line.element->n_slow), 0);
  g_object_get (line.element, "picky", &picky, NULL);
  fail_unless_equals_int (picky, 3);
  line_stop (&line);
}

/* The start does not wait until the element has taken the value. */
CUV_TEST (settings_that_block)
{
  g_autofree gchar *path = NULL, *problem = NULL;
  Line line;

  path = start_with (&line, "\"e.slow\":5", TRUE, &problem);
  fail_unless (problem == NULL, "%s", problem);
  while (g_atomic_int_get (&line.element->n_slow) == 0)
    g_usleep (1000);
  g_mutex_unlock (&line.element->gate);
  expect_part ("{\"e.slow\":5}");
  line_stop (&line);
}

/* Numbers that JSON cannot express here are left out. */
CUV_TEST (settings_that_are_saved)
{
  g_autofree gchar *path = NULL, *problem = NULL, *text = NULL;
  Line line;

  path = start_with (&line, "", FALSE, &problem);
  g_object_set (line.element, "uint64", G_MAXUINT64, "string", NULL, NULL);
  fail_unless (line_send (&line, "{\"type\":\"save\",\"id\":1}") == NULL);
  while (text == NULL || !g_str_has_prefix (text, "3: ")) {
    g_free (text);
    text = next_text ();
  }
  fail_unless_equals_string (text, "3: {\"id\":1,\"type\":\"done\"}");
  g_free (text);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless_equals_string (text,
      "{\"values\":{\"e.picky\":1,\"e.round\":0,\"e.slow\":0,\"e.string\":\"\"}"
      ",\"visionwebsink\":1}");
  unlink (path);
  line_stop (&line);
}

/* ---- elements that come, go and block ---- */

CUV_TEST (bad_controls)
{
  static const gchar *const cases[][2] = {
    { "e.none", "TestElement has no such property or signal" },
    { "e.read-only", "it cannot be set" },
    { "e.construct", "it cannot be set" },
    { "e.ready", "can change while playing" },
    { "e.unknown", "can change while playing" },
    { "e.caps", "its type GstCaps has no control" },
    { "e.boxed", "its argument 1 has the type GstCaps" },
    { "e.make-caps", "it returns the type GstCaps" },
    { "e.no-action", "not an action signal" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *problem = NULL;
    Line line;

    line_init (&line);
    fail_unless (cuv_controls_new (line.sink, cases[i][0], NULL, NULL, &problem)
        == NULL);
    fail_unless (g_str_has_prefix (problem, cases[i][0])
            && strstr (problem, cases[i][1]) != NULL,
        "%s", problem);
    gst_object_unref (line.pipeline);
  }
}

CUV_TEST (elements_come_and_go)
{
  GstElement *late;
  gpointer weak;
  Line line;

  line_start (&line, "late.int");
  skip_description ();
  late = weak = line_add (line.pipeline, "late");
  g_object_add_weak_pointer (G_OBJECT (late), &weak);
  expect_part ("\"factory\":\"TestElement\"");
  fail_unless (line_set (&line, 1, "late.int", "3") == NULL);
  expect_part ("{\"late.int\":3}");
  expect_part ("\"done\"");
  gst_bin_remove (GST_BIN (line.pipeline), late);
  while (g_atomic_pointer_get (&weak) != NULL)
    g_usleep (1000);
  expect_refused (line_set (&line, 100, "late.int", "3"), "no element 'late'");
  expect_part ("\"missing\"");
  line_stop (&line);
}

/* An element outlives the controls, or ends without leaving its bin. */
CUV_TEST (elements_outlive_controls)
{
  TestElement *element;
  Line line;

  line_start (&line, "e.int,e.picky");
  element = gst_object_ref (line.element);
  line_stop (&line);
  g_object_set (element, "int", 2, NULL);
  gst_object_unref (element);
}

CUV_TEST (late_elements_without_the_property)
{
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  Line line;

  line_start (&line, "late.none");
  line_add (line.pipeline, "late");
  bus = gst_element_get_bus (line.pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  line_stop (&line);
}

/* Who stops the sink may hold what the element waits for. */
CUV_TEST (stops_while_an_element_blocks)
{
  TestElement *element;
  Line line;

  line_start (&line, "e.slow");
  skip_description ();
  element = gst_object_ref (line.element);
  g_mutex_lock (&element->gate);
  line_set (&line, 1, "e.slow", "1");
  while (g_atomic_int_get (&element->n_slow) == 0)
    g_usleep (1000);
  line_set (&line, 2, "e.slow", "2");
  line_stop (&line);
  g_mutex_unlock (&element->gate);
  while (GST_OBJECT_REFCOUNT_VALUE (element) > 1)
    g_usleep (1000);
  fail_unless_equals_int (g_atomic_int_get (&element->n_slow), 1);
  fail_unless_equals_int (n_texts (), 0);
  gst_object_unref (element);
}
