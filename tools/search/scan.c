/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares queries with this rank's entries and finds its k best. Then the root
 * gathers the k best of all ranks, sorts them, and gets names and thumbnails
 * from the ranks that own the entries. */
#include "search-tool.h"

#include <stdlib.h>
#include <string.h>
#include "cuvtime.h"
#include "scan/scan.h"

/* This rank's entries of a file. */
typedef struct {
  CuvLdpScan *scan;
  guint64 first, n; /* numbered through all files */
} Segment;

struct _Scan {
  const Part *part;
  const SearchOptions *options;
  CuvProcessor processor;
  GArray *segments; /* of Segment */
  gint max_queries;
  gsize thumbnail_size; /* bytes; 0: not wanted */
  /* results of the last run, for each query */
  gdouble *similarities; /* of this rank's entries */
  CuvLdpMatch *best;     /* k of this rank */
  gsize n_best[SCAN_MAX_QUERIES];
  gdouble scan_us;
  /* results for the query that was merged last; details at the root only */
  GArray *matches; /* of CuvLdpMatch */
  GByteArray *details;
  GPtrArray *names, *thumbnails;
};

/* ---- opening ---- */

static void
close_segment (gpointer segment)
{
  cuv_ldp_scan_free (((Segment *) segment)->scan);
}

/* Returns the share of the memory for n entries. On a GPU a fixed part is
 * added: each segment needs some memory, which may exceed the share of a few
 * entries. */
static gsize
memory_of (const Scan *self, gsize memory, guint64 n)
{
  const guint64 all = self->part->end - self->part->first;
  const gsize share = (gsize) ((gdouble) memory * (gdouble) n / (gdouble) all);

  return self->processor.on_device
      ? share + 16 * (gsize) part_info (self->part)->stride + (64 << 10)
      : share;
}

static gchar *
open_segments (Scan *self, gsize memory)
{
  const Part *part = self->part;
  const char *problem = NULL;

  for (guint64 first = part->first; problem == NULL && first < part->end;) {
    const IndexFile *file = part_file (part, first);
    const guint64 n = MIN (part->end, file->first + file->n) - first;
    Segment segment = { NULL, first, n };

    segment.scan = cuv_ldp_scan_new (file->index, first - file->first, n,
        memory_of (self, memory, n), &self->processor, &problem);
    if (segment.scan != NULL)
      g_array_append_val (self->segments, segment);
    first += n;
  }
  return problem == NULL
      ? NULL
      : g_strdup_printf ("cannot compare with %" G_GUINT64_FORMAT
                         " entries: %s",
          part->end - part->first, problem);
}

/* Limit for all thumbnails of a query, in bytes. */
enum { MAX_THUMBNAILS = 64 << 20 };

static gchar *
set_thumbnails (Scan *self)
{
  const CuvLdpIndexInfo *info = part_info (self->part);
  const gsize size =
      3 * (gsize) info->thumbnail_width * (gsize) info->thumbnail_height;

  if (!self->options->thumbnails)
    return NULL;
  if (size == 0)
    return g_strdup ("--thumbnails: the index has none: it was created with "
                     "thumbnail-width=0");
  if (size * (gsize) self->options->k > MAX_THUMBNAILS)
    return g_strdup_printf (
        "--thumbnails: %d of %dx%d pixels take more than %d MB: lower --k",
        self->options->k, (gint) info->thumbnail_width,
        (gint) info->thumbnail_height, MAX_THUMBNAILS >> 20);
  self->thumbnail_size = size;
  return NULL;
}

/* Returns how many queries fit in memory; on a GPU they are compared one at a
 * time. */
static gint
find_max_queries (const Scan *self, gsize memory)
{
  const gsize each = (self->part->end - self->part->first) * sizeof (gdouble)
      + (gsize) self->options->orientations
          * part_info (self->part)->descriptor_size;
  const gsize n = self->processor.on_device ? 1 : memory / each;

  return ranks_min ((gint) CLAMP (n, 1, SCAN_MAX_QUERIES));
}

static gchar *
open_scan (Scan *self, gsize memory)
{
  const guint64 n = (self->part->end - self->part->first) * self->max_queries;
  gchar *problem = open_segments (self, memory);

  self->similarities = g_try_new (gdouble, n + 1);
  if (problem == NULL && self->similarities == NULL)
    problem = g_strdup_printf (
        "out of memory for %" G_GUINT64_FORMAT " similarities", n);
  return problem;
}

/* Reports the memory in use, for --verbose. RssAnon does not count mapped
 * pages of the files, which the system may drop. */
static gchar *
scan_describe (const Scan *self)
{
  const Part *part = self->part;
  const CuvLdpIndexInfo *info = part_info (part);
  const guint64 n = part->end - part->first;
  gchar *range = n == 0
      ? g_strdup ("no entries")
      : g_strdup_printf ("entries %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
          part->first, part->end - 1);
  gchar *text =
      g_strdup_printf ("%s on %s, %d threads, up to %d queries at once: "
                       "%" G_GUINT64_FORMAT " MiB of histograms, "
                       "%" G_GSIZE_FORMAT " MiB of host memory",
          range, self->processor.on_device ? "the GPU" : "the CPU",
          self->processor.n_threads, self->max_queries,
          n * info->descriptor_size >> 20,
          device_read_size ("/proc/self/status", "RssAnon:") >> 20);

  g_free (range);
  return text;
}

Scan *
scan_new (const Part *part, const SearchOptions *options,
    const CuvProcessor *processor)
{
  Scan *self = g_new0 (Scan, 1);
  const DeviceMemory memory = device_memory (options, processor);

  self->part = part;
  self->options = options;
  self->processor = *processor;
  self->segments = g_array_new (FALSE, FALSE, sizeof (Segment));
  g_array_set_clear_func (self->segments, close_segment);
  self->max_queries = find_max_queries (self, memory.queries);
  self->best = g_new (CuvLdpMatch, options->k * self->max_queries);
  self->matches = g_array_new (FALSE, FALSE, sizeof (CuvLdpMatch));
  self->names = g_ptr_array_new ();
  self->thumbnails = g_ptr_array_new ();
  if (ranks_agree (set_thumbnails (self))
      && ranks_agree (open_scan (self, memory.histograms))) {
    if (options->verbose)
      ranks_print (scan_describe (self));
    return self;
  }
  scan_free (self);
  return NULL;
}

void
scan_free (Scan *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->segments);
  g_array_unref (self->matches);
  g_clear_pointer (&self->details, g_byte_array_unref);
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->thumbnails);
  g_free (self->similarities);
  g_free (self->best);
  g_free (self);
}

gint
scan_max_queries (const Scan *self)
{
  return self->max_queries;
}

/* ---- this rank's best ---- */

static gdouble *
similarities_of (const Scan *self, gint query)
{
  const Part *part = self->part;

  return self->similarities + (gsize) query * (part->end - part->first);
}

static CuvLdpMatch *
best_of (const Scan *self, gint query)
{
  return self->best + query * self->options->k;
}

static gchar *
scan_compare (Scan *self, const guint8 *packed, gint n)
{
  const gsize size = part_info (self->part)->descriptor_size;
  const gint variants = self->options->orientations;
  CuvLdpPackedQuery queries[SCAN_MAX_QUERIES * SEARCH_ALL_ORIENTATIONS];
  const char *problem = NULL;

  n *= variants;
  for (gint i = 0; i < n; i++)
    queries[i] = (CuvLdpPackedQuery){ packed + (gsize) i * size,
      similarities_of (self, i / variants), i % variants > 0 };
  for (guint i = 0; problem == NULL && i < self->segments->len; i++) {
    const Segment *segment = &g_array_index (self->segments, Segment, i);

    problem = cuv_ldp_scan_run (segment->scan, queries, n, &self->processor);
    for (gint j = 0; j < n; j++)
      queries[j].similarities += segment->n;
  }
  return g_strdup (problem);
}

static void
scan_find_best (Scan *self, gint query)
{
  const Part *part = self->part;
  CuvLdpMatch *best = best_of (self, query);

  self->n_best[query] =
      cuv_ldp_best (similarities_of (self, query), part->end - part->first,
          self->options->threshold, (gsize) self->options->k, best);
  for (gsize i = 0; i < self->n_best[query]; i++)
    best[i].entry += part->first;
}

static int
compare_times (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* scan_us is the median time of the repetitions, divided by n. */
gboolean
scan_run (Scan *self, const guint8 *packed, gint n)
{
  const gint n_times = self->options->repeat;
  gdouble *times = g_new (gdouble, n_times);
  gchar *problem = NULL;

  for (gint i = 0; i < n_times && problem == NULL; i++) {
    struct timespec start;

    clock_gettime (CLOCK_MONOTONIC, &start);
    problem = scan_compare (self, packed, n);
    for (gint j = 0; j < n && problem == NULL; j++)
      scan_find_best (self, j);
    times[i] = cuv_microseconds_since (&start);
  }
  qsort (times, (gsize) n_times, sizeof *times, compare_times);
  self->scan_us = times[n_times / 2] / n;
  g_free (times);
  if (!ranks_agree (problem))
    return FALSE;
  self->scan_us = ranks_max (self->scan_us);
  return TRUE;
}

/* ---- the best of all ---- */

/* Appends the index of a match, its entry's name and thumbnail. */
static void
append_details (Scan *self, GByteArray *out, guint32 i)
{
  const guint64 entry = g_array_index (self->matches, CuvLdpMatch, i).entry;
  const IndexFile *file = part_file (self->part, entry);
  const gchar *name = cuv_ldp_index_name (file->index, entry - file->first);
  gchar text[CUV_LDP_INDEX_MAX_NAME + 2] = { name == NULL };

  if (name != NULL)
    g_strlcpy (text + 1, name, sizeof text - 1);
  g_byte_array_append (out, (const guint8 *) &i, sizeof i);
  g_byte_array_append (out, (const guint8 *) text, sizeof text);
  if (self->thumbnail_size > 0)
    g_byte_array_append (out,
        cuv_ldp_index_thumbnail (file->index, entry - file->first),
        (guint) self->thumbnail_size);
}

static void
read_details (Scan *self)
{
  const gsize size = sizeof (guint32) + CUV_LDP_INDEX_MAX_NAME + 2;

  g_ptr_array_set_size (self->names, (gint) self->matches->len);
  g_ptr_array_set_size (self->thumbnails, (gint) self->matches->len);
  for (guint at = 0; at < self->details->len;
       at += (guint) (size + self->thumbnail_size)) {
    guint8 *bytes = self->details->data + at;
    gchar *text = (gchar *) bytes + sizeof (guint32);
    guint32 i;

    memcpy (&i, bytes, sizeof i);
    self->names->pdata[i] = text[0] != 0 ? NULL : text + 1;
    self->thumbnails->pdata[i] = bytes + size;
  }
}

static void
fetch_details (Scan *self)
{
  GByteArray *own = g_byte_array_new ();

  for (guint32 i = 0; i < self->matches->len; i++) {
    const guint64 entry = g_array_index (self->matches, CuvLdpMatch, i).entry;

    if (entry >= self->part->first && entry < self->part->end)
      append_details (self, own, i);
  }
  g_clear_pointer (&self->details, g_byte_array_unref);
  self->details = ranks_gather (own->data, own->len);
  g_byte_array_unref (own);
  if (ranks_is_root ())
    read_details (self);
}

/* Sets self->matches at every rank to the best of all ranks. */
static void
scan_gather (Scan *self, gint query)
{
  GByteArray *all = ranks_gather (
      best_of (self, query), self->n_best[query] * sizeof *self->best);
  guint n = 0;

  g_array_set_size (self->matches, 0);
  if (all != NULL) {
    g_array_append_vals (
        self->matches, all->data, (guint) (all->len / sizeof (CuvLdpMatch)));
    g_byte_array_unref (all);
    cuv_ldp_sort_matches (
        (CuvLdpMatch *) (void *) self->matches->data, self->matches->len);
    n = MIN (self->matches->len, (guint) self->options->k);
  }
  ranks_broadcast (&n, sizeof n, 0);
  g_array_set_size (self->matches, n);
  ranks_broadcast (self->matches->data, n * sizeof (CuvLdpMatch), 0);
}

void
scan_merge (Scan *self, gint i, Found *found)
{
  struct timespec start;

  clock_gettime (CLOCK_MONOTONIC, &start);
  scan_gather (self, i);
  fetch_details (self);
  *found =
      (Found){ .matches = (const CuvLdpMatch *) (void *) self->matches->data,
        .n = self->matches->len,
        .names = self->names,
        .thumbnails = self->thumbnail_size > 0
            ? (const guint8 *const *) self->thumbnails->pdata
            : NULL,
        .scan_us = self->scan_us,
        .merge_us = cuv_microseconds_since (&start) };
}
