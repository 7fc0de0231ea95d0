/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests what a table says of its metrics. */
#include <string.h>
#include "cuvelements.h"
#include "gstcuvtablemetrics.h"

/* A table without rows, whose columns are zone, inside, in and kind. */
static void
describe (GstBuffer *buffer, const gchar *metrics, const gchar *row_names,
    GstCuvTable *table)
{
  static const GstCuvColumn columns[] = { { "zone", GST_CUV_TYPE_TEXT },
    { "inside", GST_CUV_TYPE_U32 }, { "in", GST_CUV_TYPE_U64 },
    { "kind", GST_CUV_TYPE_TEXT } };
  GstStructure *structure = gst_cuv_meta_add_table (
      buffer, "gates", 1, 8, 8, "none", columns, G_N_ELEMENTS (columns), "", 0);
  gpointer state = NULL;

  if (metrics != NULL)
    gst_structure_set (structure, "metrics", G_TYPE_STRING, metrics, NULL);
  if (row_names != NULL)
    gst_structure_set (structure, "row_names", G_TYPE_STRING, row_names, NULL);
  fail_unless (gst_cuv_meta_next_table (buffer, &state, table));
}

static void
expect_metrics (const gchar *metrics, const gchar *expected)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GString) found = g_string_new (NULL);
  GstCuvMetric list[GST_CUV_MAX_COLUMNS];
  GstCuvTable table;
  guint n;

  describe (buffer, metrics, NULL, &table);
  n = gst_cuv_table_metrics (&table, list);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (found, "%s%s ", table.columns[list[i].column].name,
        list[i].counter ? "+" : "");
  fail_unless_equals_string (found->str, expected);
}

static void
expect_names (const gchar *row_names, const gchar *expected)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  g_autoptr (GString) found = g_string_new (NULL);
  guint list[GST_CUV_MAX_COLUMNS], n;
  GstCuvTable table;

  describe (buffer, "in", row_names, &table);
  n = gst_cuv_table_row_names (&table, list);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (found, "%s ", table.columns[list[i]].name);
  fail_unless_equals_string (found->str, expected);
}

CUV_TEST (test_metrics)
{
  expect_metrics (NULL, "");
  expect_metrics ("", "");
  expect_metrics ("inside in:counter", "inside in+ ");
  expect_metrics ("  in   inside ", "in inside ");
  /* texts, columns that do not exist, and repetitions */
  expect_metrics ("zone kind:counter i inside2 ins :counter counter", "");
  expect_metrics ("in in:counter in inside:counter", "in inside+ ");
}

CUV_TEST (test_row_names)
{
  expect_names (NULL, "zone kind ");
  expect_names ("zone", "zone ");
  expect_names ("kind  zone", "kind zone ");
  expect_names ("in nothing kin", "");
  expect_names ("", "");
}

CUV_TEST (test_many_words)
{
  g_autoptr (GString) words = g_string_new (NULL);

  for (guint i = 0; i < 2 * GST_CUV_MAX_COLUMNS; i++)
    g_string_append (words, "in zone ");
  expect_metrics (words->str, "in ");
  expect_names (words->str, "zone ");
}
