/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reader PIPELINE: prints the votes in all rows of tables that reach the
 * element named `last`. Uses installed files only. */
#include <gstcuvmeta.h>

static GstPadProbeReturn
read_tables (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  gpointer state = NULL;
  GstCuvTable table;

  while (gst_cuv_meta_next_table (buffer, &state, &table)) {
    gint votes = gst_cuv_table_column (&table, "votes");

    for (guint row = 0; row < table.n_rows && votes >= 0; row++)
      g_print ("%s %" G_GINT64_FORMAT "\n", table.key,
          gst_cuv_table_int (&table, row, (guint) votes));
  }
  return GST_PAD_PROBE_OK;
}

int
main (int argc, char **argv)
{
  GstElement *pipeline, *last;
  GstMessage *end;
  gboolean ok;

  gst_init (&argc, &argv);
  pipeline = gst_parse_launchv ((const gchar **) argv + 1, NULL);
  last = gst_bin_get_by_name (GST_BIN (pipeline), "last");
  gst_pad_add_probe (gst_element_get_static_pad (last, "src"),
      GST_PAD_PROBE_TYPE_BUFFER, read_tables, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  end = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  ok = GST_MESSAGE_TYPE (end) == GST_MESSAGE_EOS;
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return !ok;
}
