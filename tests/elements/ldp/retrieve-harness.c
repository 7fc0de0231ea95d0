/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "retrieve-harness.h"

#include <math.h>
#include <string.h>

void
run_init (Run *self, const gchar *line, gint width, gint height)
{
  g_autofree gchar *whole = g_strdup_printf (
      use_cuda ? "cuvcudaupload ! %s ! cuvcudadownload" : "%s", line);

  self->h = gst_harness_new_parse (whole);
  self->element = gst_harness_find_element (self->h, "ldpretrieve");
  self->bus = gst_bus_new ();
  gst_element_set_bus (self->h->element, self->bus);
  gst_element_set_state (self->h->element, GST_STATE_PLAYING);
  cuv_harness_caps (self->h, "NV12", width, height);
}

void
run_clear (Run *self)
{
  gst_element_set_bus (self->h->element, NULL);
  gst_bus_set_flushing (self->bus, TRUE);
  gst_object_unref (self->bus);
  gst_object_unref (self->element);
  gst_harness_teardown (self->h);
}

void
run_with_index (Run *self, const gchar *path, const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf (
      "ldpretrieve orientations=upright index=%s %s", path, properties);

  run_init (self, line, SIZE, SIZE);
}

GstBuffer *
push_picture (Run *self, gint i, GstCuvTable *table)
{
  GstBuffer *buffer =
      gst_harness_push_and_pull (self->h, frame_of ("NV12", SIZE, SIZE, i));
  gpointer state = NULL;

  fail_unless (buffer != NULL);
  while (gst_cuv_meta_next_table (buffer, &state, table)) {
    if (strcmp (table->kind, "matches") == 0)
      return buffer;
  }
  fail ("no table of matches");
  return NULL;
}

gdouble
cell (const GstCuvTable *table, guint row, const gchar *column)
{
  const gint i = gst_cuv_table_column (table, column);

  fail_unless (i >= 0, "no column %s", column);
  return gst_cuv_table_double (table, row, (guint) i);
}

static const gchar *
name_of (const GstCuvTable *table, guint row)
{
  return gst_cuv_table_text (
      table, row, (guint) gst_cuv_table_column (table, "name"));
}

void
check_row (const GstCuvTable *table, guint row, gdouble wanted)
{
  const gint entry = (gint) cell (table, row, "entry");
  g_autofree gchar *name = g_strdup_printf ("picture %d", entry);

  fail_unless (fabs (cell (table, row, "similarity") - wanted) < 1e-12,
      "row %u: %.9f, not %.9f", row, cell (table, row, "similarity"), wanted);
  fail_unless_equals_string (name_of (table, row), name);
}

void
expect_rows (Run *self, gint i, guint n)
{
  GstCuvTable table;

  gst_buffer_unref (push_picture (self, i, &table));
  fail_unless_equals_int (table.n_rows, n);
}
