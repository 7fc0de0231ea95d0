/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstHarness for our elements: caps, flushes, expected errors and warnings. */
#include "cuvelements.h"

#include <string.h>

GstHarness *
cuv_element_harness (const gchar *name)
{
  g_autoptr (GstElement) element = cuv_element_new (name);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");

  return h;
}

void
cuv_harness_caps (GstHarness *h, const gchar *format, gint width, gint height)
{
  gst_harness_set_live (h, FALSE); /* late frames would not be analysed */
  gst_harness_set_src_caps (h,
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format,
          "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, "framerate",
          GST_TYPE_FRACTION, 30, 1, NULL));
}

void
cuv_harness_flush (GstHarness *h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

/* ---- messages ---- */

GstBus *
cuv_harness_watch (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

void
cuv_harness_unwatch (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
}

gchar *
pop_problem (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;
  gchar *text;

  if (message == NULL)
    return NULL;
  if (type == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else
    gst_message_parse_error (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

void
expect_problem (GstBus *bus, GstMessageType type, const gchar *part)
{
  g_autofree gchar *text = pop_problem (bus, type);

  fail_unless (text != NULL && strstr (text, part) != NULL,
      "expected a message with '%s', got '%s'", part, text);
}

void
expect_no_warning (GstBus *bus)
{
  gchar *text = pop_problem (bus, GST_MESSAGE_WARNING);

  fail_if (text != NULL, "%s", text);
}

void
cuv_harness_push_error (GstHarness *h, GstBuffer *buffer, const gchar *part)
{
  GstBus *bus = cuv_harness_watch (h);

  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  expect_problem (bus, GST_MESSAGE_ERROR, part);
  cuv_harness_unwatch (h, bus);
}

void
cuv_expect_no_start (GstElement *element, const gchar *part)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  expect_problem (bus, GST_MESSAGE_ERROR, part);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (element);
}
