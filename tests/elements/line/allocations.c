/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests pipelines in which each of the project's own allocations fails once:
 * the pipelines end, with an error on the bus or without using that memory, and
 * the process does not crash. Runs with failing.c in LD_PRELOAD. */
#include "cuvelements.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

#define FRAMES(format)                                                         \
  "videotestsrc num-buffers=3 ! video/x-raw,format=" format                    \
  ",width=96,height=64 ! "
#define MAX_ALLOCATIONS 1000 /* maximum per pipeline */

static const gchar *const lines[] = {
  FRAMES ("NV12") "waldboostdetect ! fakesink",
  FRAMES ("NV12") "houghlines method=pclines ! visionoverlay ! fakesink",
  FRAMES ("NV12") "houghlines ! fakesink",
  FRAMES ("RGB") "houghlines ! visionpublish ! fakesink",
  FRAMES ("NV12") "rcdtrack object-initial-x=10 object-initial-y=10 "
                  "object-initial-width=30 object-initial-height=30 ! fakesink",
  FRAMES ("NV12") "visionmotion ! fakesink",
  FRAMES ("RGB") "visionmotion method=average ! fakesink",
  FRAMES ("NV12") "ldpdescriptor ! fakesink",
  FRAMES ("NV12") "ldpretrieve ! fakesink",
  FRAMES ("NV12") "ldpindexsink descriptor-width=32 descriptor-height=32 "
                  "thumbnail-width=8 thumbnail-height=8 name=sink",
  FRAMES ("RGB") "spectralpca ! fakesink",
  FRAMES ("GRAY8") "spectralntf ! fakesink",
  FRAMES ("GRAY8") "spectralntf init=nndsvd ! fakesink",
  FRAMES ("GRAY8") "spectralntf factorisation=matrix sum-to-one=true "
                   "init=nfindr ! fakesink",
  FRAMES ("RGB") "tee name=t ! queue ! houghlines ! rcdtrack ! fakesink "
                 "t. ! queue ! spectralpca ! fakesink",
};

static glong (*arm) (glong nth);
static gchar *location;

/* Returns TRUE if there were fewer than nth allocations, so that none
 * failed. */
static gboolean
play_with_failure (const gchar *line, glong nth)
{
  GstElement *pipeline = cuv_pipeline_new (line);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  glong n;

  if (sink != NULL)
    g_object_set (sink, "location", location, NULL);
  gst_clear_object (&sink);
  arm (nth);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  n = arm (0);
  fail_unless (message != NULL,
      "%s: allocation %ld: neither EOS nor an error within 60 s", line, nth);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS || n >= nth,
      "%s: an error although no allocation failed", line);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_unlink (location);
  return n < nth;
}

CUV_LOOP_TEST (every_allocation_fails, G_N_ELEMENTS (lines))
{
  gpointer symbol = dlsym (RTLD_DEFAULT, "failing_arm");
  glong nth = 1;

  fail_unless (symbol != NULL, "failing.c is not in LD_PRELOAD");
  memcpy (&arm, &symbol, sizeof arm);
  while (!play_with_failure (lines[__i__], nth))
    fail_unless (++nth < MAX_ALLOCATIONS, "more allocations: %s", lines[__i__]);
  g_print ("%ld allocations: %s\n", nth - 1, lines[__i__]);
  fail_unless (nth > 1, "no allocation in %s", lines[__i__]);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  location = g_strdup_printf (
      "%s/allocations-%d.ldp", g_get_tmp_dir (), (gint) getpid ());
  tcase_set_timeout (tcase, 300);
}
