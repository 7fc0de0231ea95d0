/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "search-tool.h"

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/gstcuvframe.h"
#include "cpu/ldp-cpu.h"
#include "cuvtime.h"
#include "picture.h"

struct _Queries {
  gchar **next;
  char *line; /* of stdin */
  size_t line_size;
  gboolean reading; /* stdin */
  const CuvLdpIndexInfo *info;
  /* for pictures */
  GstElement *decoder;
  CuvLdpCpu *descriptor;
  guint32 *counts;
  guint8 *packed;
};

Queries *
queries_new (const SearchOptions *options, const CuvLdpIndexInfo *info)
{
  Queries *self = g_new0 (Queries, 1);

  self->next = options->queries;
  self->info = info;
  if (options->kind != SEARCH_PICTURES)
    return self;
  gst_init (NULL, NULL);
  self->decoder = picture_decoder_new ("cuvision-search");
  self->descriptor = cuv_ldp_cpu_new (&info->layout);
  self->counts = g_try_new (guint32, cuv_ldp_n_counts (&info->layout));
  self->packed = g_try_malloc (info->descriptor_size);
  if (self->decoder != NULL && self->descriptor != NULL && self->counts != NULL
      && self->packed != NULL)
    return self;
  if (self->decoder != NULL)
    ranks_print_error ("out of memory for a picture's descriptor");
  queries_free (self);
  return NULL;
}

void
queries_free (Queries *self)
{
  if (self == NULL)
    return;
  if (self->decoder != NULL) {
    gst_element_set_state (self->decoder, GST_STATE_NULL);
    gst_object_unref (self->decoder);
  }
  cuv_ldp_cpu_free (self->descriptor);
  g_free (self->counts);
  g_free (self->packed);
  free (self->line);
  g_free (self);
}

/* ---- which ---- */

/* Empty lines are skipped. */
static const gchar *
read_line (Queries *self)
{
  ssize_t n;

  while ((n = getline (&self->line, &self->line_size, stdin)) >= 0) {
    while (n > 0 && strchr ("\r\n", self->line[n - 1]) != NULL)
      self->line[--n] = '\0';
    if (n > 0)
      return self->line;
  }
  return NULL;
}

const gchar *
queries_next (Queries *self)
{
  for (;;) {
    const gchar *line = self->reading ? read_line (self) : NULL;

    if (line != NULL)
      return line;
    self->reading = FALSE;
    if (*self->next == NULL)
      return NULL;
    if (!g_str_equal (*self->next, "-"))
      return *self->next++;
    self->next++;
    self->reading = TRUE;
  }
}

/* ---- pictures ---- */

/* The counts, or NULL with *problem set. */
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
    *problem = g_strdup ("it is not a picture");
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

const void *
queries_describe (Queries *self, const gchar *path, gint n_threads,
    DescribeTimes *times, gchar **problem)
{
  GstSample *sample;
  const void *counts;
  struct timespec start;

  clock_gettime (CLOCK_MONOTONIC, &start);
  *problem = NULL;
  sample = picture_decode (self->decoder, path, problem);
  if (sample == NULL)
    return NULL;
  times->decode_us = cuv_microseconds_since (&start);
  counts = describe_sample (self, sample, n_threads, problem);
  gst_sample_unref (sample);
  if (counts == NULL)
    return NULL;
  cuv_ldp_convert_counts (&self->info->layout, counts, self->counts);
  cuv_ldp_index_pack (&self->info->layout, self->counts, self->packed);
  times->describe_us = cuv_microseconds_since (&start);
  return self->packed;
}
