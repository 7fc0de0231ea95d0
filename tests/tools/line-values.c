/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values in pipelines: GStreamer's parser gives each property its value,
 * byte for byte, and nothing else. */
#include "line.h"

#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#include "cuvcheck.h"

/* A pipeline with {v}, and the text before and after it in the property `host`
 * of the element `a`. Each has a second element with a quoted value. */
typedef struct {
  const gchar *line, *before, *after;
} Template;

#define NEXT " ! tcpclientsink name=b host=\"b c\""

static const Template templates[] = {
  { "tcpclientsrc name=a host={v}" NEXT, "", "" },
  { "tcpclientsrc name=a host=\"{v}\"" NEXT, "", "" },
  { "tcpclientsrc name=a host='{v} c'" NEXT, "'", " c'" },
  { "tcpclientsrc host = {v} name=a" NEXT, "", "" },
  { "tcpclientsrc name=a host=/out/{v}" NEXT, "/out/", "" },
  { "tcpclientsrc name=a host={v}.txt" NEXT, "", ".txt" },
  { "tcpclientsrc name=a host=\"{v} \\\" \\{v} 'c'\"" NEXT, "", " \" {v} 'c'" },
  { "( tcpclientsrc name=a host=x\\ \\\\{v} port=2" NEXT " )", "x \\", "" },
};

static gchar *
expand (const gchar *line, const gchar *value, GError **error)
{
  GHashTable *values = g_hash_table_new (g_str_hash, g_str_equal);
  gchar *text;

  g_hash_table_insert (values, (gpointer) "v", (gpointer) value);
  text = cuv_line_expand (line, values, error);
  g_hash_table_unref (values);
  return text;
}

static void
check_pipeline (GstElement *pipeline, const gchar *expected)
{
  gchar *host = NULL, *other = NULL;

  gst_child_proxy_get (
      GST_CHILD_PROXY (pipeline), "a::host", &host, "b::host", &other, NULL);
  CUV_CHECK (g_strcmp0 (host, expected) == 0, ": '%s'", host);
  CUV_CHECK (g_strcmp0 (other, "b c") == 0, ": '%s'", other);
  CUV_CHECK (GST_BIN_NUMCHILDREN (pipeline) == 2);
  g_free (host);
  g_free (other);
}

static void
check_value (const Template *template, const gchar *value)
{
  gchar *expected =
      g_strconcat (template->before, value, template->after, NULL);
  gchar *text = expand (template->line, value, NULL);
  GError *error = NULL;
  GstElement *pipeline;

  cuv_check_case ("%.60s with '%.200s'", template->line, value);
  if (CUV_CHECK (text != NULL)) {
    pipeline =
        gst_parse_launch_full (text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    if (CUV_CHECK (
            pipeline != NULL, ": %s", error != NULL ? error->message : "")) {
      check_pipeline (pipeline, expected);
      gst_object_unref (pipeline);
    }
  }
  g_clear_error (&error);
  g_free (text);
  g_free (expected);
}

static void
check_known_values (void)
{
  static const gchar *const values[] = { "/films/a b.mp4", "c:\\d", "it's",
    "say \"no\"", "a!b", "{film}", "x=y", "50%", "(1)", "\xc3\xa4\xe6\xbc\xa2",
    "#1 ,;[]$&*?~`|<>^", "", "NULL", "\"", "\"a\"", "'a'", "\\", "ends in \\",
    "\\\\", "two\nlines", " ", " ! filesink location=x", "{v}" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint k = 0; k < G_N_ELEMENTS (templates); k++)
      check_value (&templates[k], values[i]);
}

/* ---- random values ---- */

static gchar *
make_value (void)
{
  static const gchar *const parts[] = { "\\", "\\", "\\\\", "\"", "'", "!",
    " ! ", " ", "\n", "\t", "\r\n", "\x01", "\x7f", "=", "{", "}", "{v}", "(",
    ")", ",", ";", "NULL", "a", "name=x", "%d", "\\n", "\\134", "\xc3\xa4",
    "\xe2\x80\xa8", "\xf0\x9f\x8e\xa5" };
  const gsize size = cuv_check_below (500) == 0 ? 8192 : cuv_check_below (12);
  GString *value = g_string_new (NULL);

  while (value->len < size)
    if (cuv_check_below (2) == 0)
      g_string_append (value, parts[cuv_check_below (G_N_ELEMENTS (parts))]);
    else
      g_string_append_c (value, (gchar) (1 + cuv_check_below (127)));
  return g_string_free (value, FALSE);
}

/* CUV_TEST_CASES: number of cases */
static void
check_random_values (void)
{
  const gchar *given = g_getenv ("CUV_TEST_CASES");
  const int n = given != NULL ? atoi (given)
      : cuv_check_options.few ? 100
                              : 4000;

  for (int i = 0; i < n; i++) {
    gchar *value = make_value ();

    check_value (&templates[cuv_check_below (G_N_ELEMENTS (templates))], value);
    g_free (value);
  }
}

/* ---- outside properties ---- */

static void
check_refused (const gchar *line, const gchar *value)
{
  GError *error = NULL;

  cuv_check_case ("%s with '%s'", line, value);
  CUV_CHECK (expand (line, value, &error) == NULL);
  CUV_CHECK (error != NULL && strstr (error->message, "{v}") != NULL, ": %s",
      error != NULL ? error->message : "no error");
  g_clear_error (&error);
}

static void
check_text (const gchar *line, const gchar *value, const gchar *expected)
{
  gchar *text = expand (line, value, NULL);

  cuv_check_case ("%s with '%s'", line, value);
  CUV_CHECK (g_strcmp0 (text, expected) == 0, ": %s", text);
  g_free (text);
}

CUV_CHECKS_CPU (check_all)
{
  check_known_values ();
  check_random_values ();
  check_refused ("{v} ! fakesink", "a b");
  check_refused ("{v} ! fakesink", "a\nb");
  check_refused ("file:///{v} ! fakesink", "a\\");
  check_refused ("video/x-raw,format={v} ! fakesink", "a\"");
  check_refused ("filesrc location={v}", "\xff");
  check_text ("filesrc ! video/x-raw,width={v}", "640",
      "filesrc ! video/x-raw,width=640");
  check_text ("a location=/{other}/{v", "b", "a location=/{other}/{v");
}

int
main (int argc, char **argv)
{
  gst_init (NULL, NULL);
  return cuv_check_main (argc, argv);
}
