/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads queries from the command line and stdin, and computes the descriptors
 * of pictures. Only at the root. */
#include "search-tool.h"

#include <errno.h>
#include <gst/gst.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "context/gstcuvframe.h"
#include "cpu/ldp-cpu.h"
#include "cuvtime.h"
#include "picture/gstcuvpicture.h"

struct _Queries {
  gchar **next;
  gboolean reading; /* from stdin */
  gboolean failed;  /* reading stdin */
  GString *input;   /* read but not yet returned */
  GString *line;
  const CuvLdpIndexInfo *info;
  /* used for pictures only */
  gint orientations;
  CuvLdpCpu *descriptor;
  guint32 *counts;
};

Queries *
queries_new (const SearchOptions *options, const CuvLdpIndexInfo *info)
{
  Queries *self = g_new0 (Queries, 1);
  gchar *problem;

  self->next = options->queries;
  self->input = g_string_new (NULL);
  self->line = g_string_new (NULL);
  self->info = info;
  if (options->kind != SEARCH_PICTURES)
    return self;
  gst_init (NULL, NULL);
  problem = gst_cuv_picture_check ();
  self->orientations = options->orientations;
  self->descriptor = cuv_ldp_cpu_new (&info->layout);
  self->counts = g_try_new (guint32, cuv_ldp_n_counts (&info->layout));
  if (problem == NULL && self->descriptor != NULL && self->counts != NULL)
    return self;
  ranks_print_error (
      problem != NULL ? problem : "out of memory for a picture's descriptor");
  g_free (problem);
  queries_free (self);
  return NULL;
}

void
queries_free (Queries *self)
{
  if (self == NULL)
    return;
  cuv_ldp_cpu_free (self->descriptor);
  g_free (self->counts);
  g_string_free (self->input, TRUE);
  g_string_free (self->line, TRUE);
  g_free (self);
}

/* ---- reading ---- */

/* Returns whether there are bytes to read, or the end. */
static gboolean
wait_for_input (gboolean may_wait)
{
  struct pollfd input = { STDIN_FILENO, POLLIN, 0 };

  return poll (&input, 1, may_wait ? -1 : 0) > 0;
}

/* Reads the available input; at the end of stdin sets reading = FALSE. */
static void
read_input (Queries *self)
{
  gchar bytes[4096];
  const gssize n = read (STDIN_FILENO, bytes, sizeof bytes);

  if (n > 0) {
    g_string_append_len (self->input, bytes, n);
  } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
    self->reading = FALSE;
    self->failed = n < 0;
    if (n < 0)
      g_printerr ("cuvision-search: stdin: %s\n", g_strerror (errno));
  }
}

/* Moves a line to self->line; at the end of stdin also an incomplete one. */
static gboolean
take_line (Queries *self)
{
  const gchar *text = self->input->str;
  const gchar *end = memchr (text, '\n', self->input->len);
  const gssize n = end != NULL ? end - text : (gssize) self->input->len;

  if (end == NULL && (self->reading || n == 0))
    return FALSE;
  g_string_truncate (self->line, 0);
  g_string_append_len (self->line, text, n);
  while (g_str_has_suffix (self->line->str, "\r"))
    g_string_truncate (self->line, self->line->len - 1);
  g_string_erase (self->input, 0, n + (end != NULL));
  return TRUE;
}

/* Skips empty lines. Unless may_wait, reads at most once, as stdin may supply
 * bytes for ever without completing a line. */
static const gchar *
next_line (Queries *self, gboolean may_wait)
{
  for (gboolean reads = TRUE;; reads = may_wait) {
    while (take_line (self)) {
      if (self->line->len > 0)
        return self->line->str;
    }
    if (!self->reading || !reads)
      return NULL;
    if (wait_for_input (may_wait))
      read_input (self);
  }
}

const gchar *
queries_next (Queries *self, gboolean may_wait)
{
  for (;;) {
    const gchar *line = next_line (self, may_wait);

    if (line != NULL || self->reading)
      return line;
    if (*self->next == NULL)
      return NULL;
    if (!g_str_equal (*self->next, "-"))
      return *self->next++;
    self->next++;
    self->reading = TRUE;
  }
}

gboolean
queries_failed (const Queries *self)
{
  return self->failed;
}

/* ---- pictures ---- */

/* Returns the counts of the histograms, or NULL with *problem set. */
static const void *
describe_sample (
    Queries *self, GstSample *sample, gint n_threads, gchar **problem)
{
  const void *counts;
  GstVideoFrame video;
  GstVideoInfo info;
  CuvLdpRect rect;
  CuvFrame frame;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))) {
    *problem = g_strdup ("not a picture");
    return NULL;
  }
  *problem = gst_cuv_video_map (
      &video, &info, gst_sample_get_buffer (sample), GST_MAP_READ);
  if (*problem != NULL)
    return NULL;
  frame = gst_cuv_frame_of_video (&video);
  rect = (CuvLdpRect){ 0, 0, frame.width, frame.height };
  counts = cuv_ldp_cpu_run (self->descriptor, &frame, &rect, n_threads);
  gst_video_frame_unmap (&video);
  if (counts == NULL)
    *problem = g_strdup ("out of memory");
  return counts;
}

static void
pack_counts (Queries *self, const void *counts, guint8 *packed)
{
  cuv_ldp_convert_counts (&self->info->layout, counts, self->counts);
  cuv_ldp_index_pack (&self->info->layout, self->counts, packed);
}

gchar *
queries_describe (Queries *self, const gchar *path, gint n_threads,
    guint8 *packed, DescribeTimes *times)
{
  gchar *problem = NULL;
  GstSample *sample;
  const void *counts;
  struct timespec start;

  clock_gettime (CLOCK_MONOTONIC, &start);
  sample = gst_cuv_picture_load (path, &problem);
  if (sample == NULL)
    return problem;
  times->decode_us = cuv_microseconds_since (&start);
  counts = describe_sample (self, sample, n_threads, &problem);
  gst_sample_unref (sample);
  if (counts == NULL)
    return problem;
  pack_counts (self, counts, packed);
  for (gint i = 1; i < self->orientations; i++) {
    counts = cuv_ldp_cpu_run_turned (self->descriptor, i, n_threads);
    if (counts == NULL)
      return g_strdup ("out of memory");
    pack_counts (
        self, counts, packed + (gsize) i * self->info->descriptor_size);
  }
  times->describe_us = cuv_microseconds_since (&start);
  return NULL;
}
