/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tally.h"

#include <math.h>

#include "gstcuvmeta.h"

const gdouble cuv_web_latency_bounds[CUV_WEB_N_BOUNDS] = { 0.005, 0.01, 0.025,
  0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

typedef struct {
  GArray *counts;    /* CuvWebCount */
  GHashTable *index; /* name to index in counts, plus 1 */
} Names;

struct _CuvWebTally {
  gint wanted; /* atomic */

  GMutex lock;
  gint64 asked; /* monotonic time of the last request */
  Names objects, tables;
  guint64 buckets[CUV_WEB_N_BOUNDS + 1];
  gdouble latency_sum;
  GstBuffer *metas;

  /* used by the streaming thread only */
  GArray *found; /* GstCuvObject */
};

/* ---- counts by name ---- */

static void
count_clear (gpointer count)
{
  g_ref_string_release (((CuvWebCount *) count)->name);
}

static GArray *
counts_new (void)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (CuvWebCount));

  g_array_set_clear_func (counts, count_clear);
  return counts;
}

static void
names_init (Names *self)
{
  self->counts = counts_new ();
  self->index = g_hash_table_new (g_str_hash, g_str_equal);
}

static void
names_clear (Names *self)
{
  g_hash_table_unref (self->index);
  g_array_unref (self->counts);
}

static guint
names_index (const Names *self, const gchar *name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (self->index, name));
}

static guint
names_find_or_add (Names *self, const gchar *name)
{
  guint i = names_index (self, name);

  if (i == 0 && self->counts->len >= CUV_WEB_MAX_NAMES) {
    name = "other";
    i = names_index (self, name);
  }
  if (i == 0) {
    const CuvWebCount count = { .name = g_ref_string_new (name) };

    g_array_append_val (self->counts, count);
    i = self->counts->len;
    g_hash_table_insert (self->index, count.name, GUINT_TO_POINTER (i));
  }
  return i - 1;
}

static void
names_begin_frame (Names *self)
{
  for (guint i = 0; i < self->counts->len; i++)
    g_array_index (self->counts, CuvWebCount, i).newest = 0;
}

static void
names_count_valid (Names *self, const gchar *name, guint n)
{
  const guint i = names_find_or_add (self, name);
  CuvWebCount *count = &g_array_index (self->counts, CuvWebCount, i);

  count->newest += n;
  count->total += n;
}

/* Names that are the same in valid UTF-8 are counted together. */
static void
names_count (Names *self, const gchar *name, guint n)
{
  gchar *valid;

  if (g_utf8_validate (name, -1, NULL)) {
    names_count_valid (self, name, n);
    return;
  }
  valid = g_utf8_make_valid (name, -1);
  names_count_valid (self, valid, n);
  g_free (valid);
}

static void
names_reset (Names *self)
{
  g_hash_table_remove_all (self->index);
  g_array_set_size (self->counts, 0);
}

static GArray *
names_copy (const Names *self)
{
  GArray *copy = counts_new ();

  for (guint i = 0; i < self->counts->len; i++) {
    CuvWebCount count = g_array_index (self->counts, CuvWebCount, i);

    g_ref_string_acquire (count.name);
    g_array_append_val (copy, count);
  }
  return copy;
}

/* ---- life ---- */

CuvWebTally *
cuv_web_tally_new (void)
{
  CuvWebTally *self = g_new0 (CuvWebTally, 1);

  g_mutex_init (&self->lock);
  names_init (&self->objects);
  names_init (&self->tables);
  self->found = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  return self;
}

void
cuv_web_tally_free (CuvWebTally *self)
{
  gst_clear_buffer (&self->metas);
  names_clear (&self->objects);
  names_clear (&self->tables);
  g_array_unref (self->found);
  g_mutex_clear (&self->lock);
  g_free (self);
}

void
cuv_web_tally_reset (CuvWebTally *self)
{
  GstBuffer *metas;

  g_mutex_lock (&self->lock);
  names_reset (&self->objects);
  names_reset (&self->tables);
  memset (self->buckets, 0, sizeof self->buckets);
  self->latency_sum = 0;
  metas = g_steal_pointer (&self->metas);
  g_mutex_unlock (&self->lock);
  gst_clear_buffer (&metas);
}

/* ---- frames ---- */

gboolean
cuv_web_tally_is_wanted (const CuvWebTally *self)
{
  return g_atomic_int_get (&self->wanted);
}

static gboolean
has_metrics (const GstMeta *meta)
{
  return gst_meta_info_is_custom (meta->info)
      && gst_structure_has_field (
          gst_custom_meta_get_structure ((GstCustomMeta *) meta), "metrics");
}

/* A buffer without memory, so that no pool waits for it. NULL: the frame has no
 * table with metrics. */
static GstBuffer *
copy_tables (GstBuffer *buffer)
{
  GstMetaTransformCopy whole = { .size = (gsize) -1 };
  GstBuffer *copy = NULL;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (buffer, &state)) != NULL) {
    if (!has_metrics (meta))
      continue;
    if (copy == NULL)
      copy = gst_buffer_new ();
    meta->info->transform_func (
        copy, meta, buffer, _gst_meta_transform_copy, &whole);
  }
  return copy;
}

/* Call with the lock held. */
static void
count_latency (CuvWebTally *self, gdouble latency)
{
  guint i = 0;

  if (isnan (latency))
    return;
  while (i < CUV_WEB_N_BOUNDS && latency > cuv_web_latency_bounds[i])
    i++;
  self->buckets[i]++;
  self->latency_sum += latency;
}

/* Call with the lock held. */
static void
count_results (CuvWebTally *self, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstCuvTable table;

  names_begin_frame (&self->objects);
  for (guint i = 0; i < self->found->len; i++) {
    const GQuark label = g_array_index (self->found, GstCuvObject, i).label;

    names_count (
        &self->objects, label != 0 ? g_quark_to_string (label) : "", 1);
  }
  names_begin_frame (&self->tables);
  while (gst_cuv_meta_next_table (buffer, &state, &table))
    names_count (&self->tables, table.key, table.n_rows);
}

void
cuv_web_tally_frame (
    CuvWebTally *self, GstBuffer *buffer, gdouble latency, gint64 now)
{
  GstBuffer *metas = copy_tables (buffer), *before = NULL;

  gst_cuv_objects_read (self->found, buffer);
  g_mutex_lock (&self->lock);
  count_latency (self, latency);
  count_results (self, buffer);
  if (metas != NULL) {
    before = self->metas;
    self->metas = metas;
  }
  if (now - self->asked > CUV_WEB_TALLY_SECONDS * G_USEC_PER_SEC) {
    g_atomic_int_set (&self->wanted, FALSE);
    names_begin_frame (&self->objects);
    names_begin_frame (&self->tables);
  }
  g_mutex_unlock (&self->lock);
  gst_clear_buffer (&before);
}

/* ---- requests ---- */

void
cuv_web_tally_ask (CuvWebTally *self, gint64 now, CuvWebTallied *counts)
{
  g_mutex_lock (&self->lock);
  self->asked = now;
  counts->objects = names_copy (&self->objects);
  counts->tables = names_copy (&self->tables);
  memcpy (counts->buckets, self->buckets, sizeof counts->buckets);
  counts->latency_sum = self->latency_sum;
  counts->metas = self->metas != NULL ? gst_buffer_ref (self->metas) : NULL;
  g_atomic_int_set (&self->wanted, TRUE);
  g_mutex_unlock (&self->lock);
}

void
cuv_web_tallied_clear (CuvWebTallied *counts)
{
  g_array_unref (counts->objects);
  g_array_unref (counts->tables);
  gst_clear_buffer (&counts->metas);
}
