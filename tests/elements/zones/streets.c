/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visiontrack and visionzones count exactly what happens in street scenes. */
#include "config.h"
#include "cuvelements.h"

#include "gstcuvmeta.h"
#include "street.h"

#define FRAME (GST_SECOND / 30)
#define EMPTY 70 /* frames at the end, so that all tracks end */

typedef gint Counts[STREET_ZONES][STREET_LABELS][2]; /* in and out */

static gchar *
zones_text (const Street *street)
{
  GString *text = g_string_new ("{\"units\": \"pixels\", \"zones\": [");

  for (gint i = 0; i < street->n_zones; i++) {
    const StreetZone *zone = &street->zones[i];

    g_string_append_printf (text,
        "%s{\"name\": \"%d\", \"hysteresis\": %d, \"%s\": [", i > 0 ? ", " : "",
        i, zone->hysteresis, zone->is_line ? "line" : "polygon");
    for (gint k = 0; k < zone->n; k++)
      g_string_append_printf (text, "%s[%g, %g]", k > 0 ? ", " : "",
          zone->points[k].x, zone->points[k].y);
    g_string_append (text, "]}");
  }
  g_string_append (text, "]}");
  return g_string_free (text, FALSE);
}

/* CUV_TEST_RECORDS names a folder for the records of each scene, which can be
 * drawn. */
static GstHarness *
harness_new (const Street *street, gint number)
{
  const gchar *folder = g_getenv ("CUV_TEST_RECORDS");
  g_autofree gchar *publish = folder != NULL
      ? g_strdup_printf (
          "! visionpublish file-path=%s/%d.jsonl", folder, number)
      : g_strdup ("");
  g_autofree gchar *line = g_strdup_printf (
      "visiontrack message=none ! visionzones name=zones message=none %s",
      publish);
  g_autofree gchar *zones = zones_text (street);
  GstHarness *h = gst_harness_new_parse (line);
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (h->element), "zones");

  g_object_set (element, "zones", zones, NULL);
  cuv_harness_caps (h, "GRAY8", STREET_WIDTH, STREET_HEIGHT);
  return h;
}

static GstBuffer *
frame_new (const Street *street, gint number)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstVideoInfo info;

  gst_video_info_set_format (
      &info, GST_VIDEO_FORMAT_GRAY8, STREET_WIDTH, STREET_HEIGHT);
  GST_BUFFER_PTS (buffer) = (guint) number * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  for (gint i = 0; number < STREET_FRAMES && i < street->n_boxes[number]; i++) {
    const StreetBox *box = &street->boxes[number][i];

    gst_cuv_meta_add_object (&(GstCuvWriter){ .buffer = buffer, .info = &info },
        i, street_labels[box->label], (guint) box->x, (guint) box->y,
        (guint) box->width, (guint) box->height, box->score, NULL);
  }
  return buffer;
}

/* Reads the totals so far, or adds the events of the frame. */
static void
read_row (const GstCuvTable *table, guint row, gboolean totals, Counts counts)
{
  const guint zone = (guint) gst_cuv_table_column (table, "zone");
  const guint label = (guint) gst_cuv_table_column (table, "label");
  const guint in =
      (guint) gst_cuv_table_column (table, totals ? "in" : "direction");
  gint *cell =
      counts[atoi (gst_cuv_table_text (table, row, zone))]
            [strcmp (gst_cuv_table_text (table, row, label), street_labels[0])
                != 0];

  if (totals) {
    cell[0] = (gint) gst_cuv_table_int (table, row, in);
    cell[1] = (gint) gst_cuv_table_int (table, row, in + 1); /* out */
  } else {
    cell[strcmp (gst_cuv_table_text (table, row, in), "in") != 0]++;
  }
}

static void
read_tables (GstBuffer *buffer, Counts totals, Counts events)
{
  gpointer state = NULL;
  GstCuvTable table;

  while (gst_cuv_meta_next_table (buffer, &state, &table)) {
    const gboolean is_total = strcmp (table.kind, "zone_counts") == 0;

    if (!is_total && strcmp (table.kind, "zone_events") != 0)
      continue;
    for (guint i = 0; i < table.n_rows; i++)
      read_row (&table, i, is_total, is_total ? totals : events);
  }
}

static gint
compare (const Street *street, gint number, const gchar *what, Counts counts)
{
  gint n_wrong = 0;

  for (gint i = 0; i < street->n_zones; i++) {
    for (gint k = 0; k < STREET_LABELS; k++) {
      const gint *truth = street->counts[i][k], *found = counts[i][k];

      if (truth[0] == found[0] && truth[1] == found[1])
        continue;
      n_wrong++;
      g_print ("scene %d, %s %d, %s: %s %d in and %d out, in truth %d and %d\n",
          number, street->zones[i].is_line ? "line" : "polygon", i,
          street_labels[k], what, found[0], found[1], truth[0], truth[1]);
    }
  }
  return n_wrong;
}

/* Returns how many counts are wrong. */
static gint
play (const Street *street, gint number)
{
  g_autoptr (GstHarness) h = harness_new (street, number);
  Counts totals = { 0 }, events = { 0 };

  for (gint i = 0; i < STREET_FRAMES + EMPTY; i++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, frame_new (street, i));

    read_tables (buffer, totals, events);
    gst_buffer_unref (buffer);
  }
  return compare (street, number, "totals", totals)
      + compare (street, number, "events", events);
}

static gint
sum (const Street *street, gint direction)
{
  gint n = 0;

  for (gint i = 0; i < street->n_zones; i++)
    n += street->counts[i][0][direction] + street->counts[i][1][direction];
  return n;
}

CUV_TEST (streets_are_counted_exactly)
{
  const gint n_scenes = (gint) cuv_rounds (20, 100);
  gint n_wrong = 0, n_actors = 0, n_in = 0, n_out = 0;

  for (gint i = 0; i < n_scenes; i++) {
    Street *street = street_new (g_random_int ());

    n_actors += street->n_actors;
    n_in += sum (street, 0);
    n_out += sum (street, 1);
    n_wrong += play (street, i);
    street_free (street);
  }
  g_print ("%d people and cars, %d in, %d out\n", n_actors, n_in, n_out);
  fail_unless (n_wrong == 0, "%d counts are wrong", n_wrong);
  /* the scenes are not empty */
  fail_unless (
      n_actors > 4 * n_scenes && n_in > 2 * n_scenes && n_out > 2 * n_scenes);
}
