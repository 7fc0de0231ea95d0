/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live.h"

#include <string.h>

CuvLive
cuv_live_new (const gchar *element, const gchar *properties,
    const gchar *format, gint width, gint height)
{
  g_autofree gchar *line = g_strdup_printf (use_cuda
          ? "cuvcudaupload ! %s name=live %s ! cuvcudadownload"
          : "identity ! %s name=live %s",
      element, properties);
  CuvLive self = { .h = gst_harness_new_parse (line) };

  self.element = gst_bin_get_by_name (GST_BIN (self.h->element), "live");
  self.bus = cuv_harness_watch (self.h);
  cuv_live_caps (&self, format, width, height);
  return self;
}

void
cuv_live_clear (CuvLive *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_object_unref (self->element);
  gst_harness_teardown (self->h);
  g_free (self->shown);
}

void
cuv_live_caps (CuvLive *self, const gchar *format, gint width, gint height)
{
  self->format = format;
  self->width = width;
  self->height = height;
  cuv_harness_caps (self->h, format, width, height);
}

void
cuv_live_restart (CuvLive *self, const gchar *settings)
{
  gst_element_set_state (self->element, GST_STATE_NULL);
  cuv_element_set (self->element, settings);
  gst_element_set_state (self->element, GST_STATE_PLAYING);
  cuv_live_caps (self, self->format, self->width, self->height);
}

GstBuffer *
cuv_live_push (CuvLive *self, GstBuffer *frame)
{
  GstBuffer *out = gst_harness_push_and_pull (self->h, frame);

  fail_if (out == NULL);
  return out;
}

void
cuv_live_push_error (CuvLive *self, GstBuffer *frame, const gchar *problem)
{
  fail_unless_equals_int (gst_harness_push (self->h, frame), GST_FLOW_ERROR);
  expect_problem (self->bus, GST_MESSAGE_ERROR, problem);
}

void
cuv_live_check (CuvLive *self, const gchar *what, gchar *now, gboolean differs)
{
  fail_unless ((g_strcmp0 (now, self->shown) != 0) == differs,
      "%s: the result %s:\n%s", what, differs ? "did not change" : "changed",
      now);
  g_free (self->shown);
  self->shown = now;
}

void
cuv_live_steps (CuvLive *self, const CuvLiveStep *steps, guint n,
    gchar *(*look) (CuvLive *self))
{
  cuv_live_check (self, "start", look (self), self->shown == NULL);
  for (guint i = 0; i < n; i++) {
    cuv_element_set (self->element, steps[i].set);
    cuv_live_check (self, steps[i].set, look (self), steps[i].differs);
  }
  expect_no_warning (self->bus);
}

/* ---- contradictions ---- */

void
cuv_contradictions_at_start (const CuvContradiction *table, guint n,
    CuvLiveOpen open, GstBuffer *(*frame) (CuvLive *self))
{
  for (guint i = 0; i < n; i++) {
    CuvLive live = open (table[i].bad);

    cuv_live_push_error (&live, frame (&live), table[i].problem);
    cuv_live_clear (&live);
  }
}

void
cuv_contradictions_live (const CuvContradiction *table, guint n,
    CuvLiveOpen open, void (*show) (CuvLive *self, gboolean is_free),
    void (*resize) (CuvLive *self))
{
  for (guint i = 0; i < n; i++) {
    CuvLive live = open (NULL);

    show (&live, FALSE);
    cuv_element_set (live.element, table[i].bad);
    show (&live, FALSE);
    expect_problem (live.bus, GST_MESSAGE_WARNING, table[i].problem);
    show (&live, FALSE);
    expect_no_warning (live.bus);
    if (resize != NULL) {
      resize (&live);
      show (&live, TRUE);
      expect_problem (live.bus, GST_MESSAGE_WARNING, table[i].problem);
    }
    cuv_element_set (live.element, table[i].fix);
    show (&live, TRUE);
    expect_no_warning (live.bus);
    cuv_live_clear (&live);
  }
}

/* ---- invalid values ---- */

void
cuv_live_kept (CuvLive *self, const gchar *property,
    const gchar *const *invalid, guint n, const gchar *kept)
{
  gchar *problem = g_strconcat (property, " '", NULL), *value;

  for (guint i = 0; i < n; i++) {
    g_object_set (self->element, property, invalid[i], NULL);
    expect_problem (self->bus, GST_MESSAGE_WARNING, problem);
    g_object_get (self->element, property, &value, NULL);
    fail_unless_equals_string (value, kept);
    g_free (value);
  }
  g_free (problem);
}

static void
for_each_setting (const gchar *element, const gchar *settings,
    void (*check) (const gchar *element, const gchar *setting))
{
  gchar **parts = g_strsplit (settings, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    check (element, parts[i]);
  g_strfreev (parts);
}

static void
expect_refused (const gchar *element, const gchar *setting)
{
  g_autoptr (GstElement) made = cuv_element_new (element);
  GLogLevelFlags fatal = cuv_expect_report ();

  cuv_element_set (made, setting);
  fail_unless (cuv_reported (fatal), "not refused: %s", setting);
}

void
cuv_expect_refused (const gchar *element, const gchar *settings)
{
  for_each_setting (element, settings, expect_refused);
}

void
cuv_expect_parse_errors (const gchar *element, const gchar *settings)
{
  for_each_setting (element, settings, cuv_expect_parse_error);
}
