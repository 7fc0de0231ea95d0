/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "several-runs.h"
#include "models.h"

#include <glib/gstdio.h>
#include <string.h>

#define CAPS "video/x-raw,format=%s,width=160,height=100"

gchar *files[N_FILES];

gchar *
want (Run *self, const gint *models, guint n)
{
  GString *list = g_string_new (NULL);

  self->n = n;
  for (guint i = 0; i < n; i++) {
    self->wanted[i] = defaults;
    self->wanted[i].model = files[models[i]];
    self->wanted[i].in_colour = models[i] % 2 == 1;
    self->wanted[i].grouping.min_neighbours = 0;
    self->labels[i] = NULL;
    self->ids[i] = (gint) i;
    g_string_append_printf (list, "%s%s", i > 0 ? "," : "", files[models[i]]);
  }
  return g_string_free (list, FALSE);
}

void
run_init (Run *self, const gchar *format, const gchar *properties,
    const gint *models, guint n)
{
  g_autofree gchar *caps = g_strdup_printf (CAPS, format);
  g_autofree gchar *list = want (self, models, n);
  g_autofree gchar *line = g_strdup_printf (
      "waldboostdetect name=d model=%s min-neighbors=0 %s", list, properties);

  self->sample = decode_picture (caps);
  self->h = new_line (line, self->sample);
  self->d = detector (self->h);
  self->bus = cuv_harness_watch (self->h);
}

void
run_clear (Run *self)
{
  gst_object_unref (self->bus);
  gst_object_unref (self->d);
  gst_harness_teardown (self->h);
  gst_sample_unref (self->sample);
}

/* ---- objects ---- */

static void
check_object (const Run *self, guint model,
    const GstVideoRegionOfInterestMeta *roi, const CuvWaldboostBox *box,
    const gchar *what)
{
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (
      (GstVideoRegionOfInterestMeta *) roi, "detection");
  g_autofree gchar *name = g_path_get_basename (self->wanted[model].model);
  g_autofree gchar *label = self->labels[model] != NULL
      ? g_strdup (self->labels[model])
      : g_strndup (name, strcspn (name, "."));
  gdouble score = 0;
  gint id = -1;

  if (g_str_has_prefix (label, "lbpcascade_"))
    memmove (label, label + 11, strlen (label) - 10);
  fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
          && roi->w == (guint) box->width && roi->h == (guint) box->height,
      "%s: model %u", what, model);
  assert_equals_string (g_quark_to_string (roi->roi_type), label);
  fail_unless (gst_structure_get (detection, "score", G_TYPE_DOUBLE, &score,
      "label_id", G_TYPE_INT, &id, NULL));
  fail_unless (score == box->score);
  fail_unless_equals_int (id, self->ids[model]);
  assert_equals_string (
      gst_structure_get_string (detection, "model_name"), name);
}

void
check_buffer (Run *self, GstBuffer *buffer, const CuvRoi *region,
    gpointer *state, const gchar *what)
{
  for (guint i = 0; i < self->n; i++) {
    GArray *boxes = expect_in (self->sample, &self->wanted[i], region);

    fail_unless (boxes->len > 0, "%s: no box of model %u", what, i);
    for (guint k = 0; k < boxes->len; k++) {
      const GstVideoRegionOfInterestMeta *roi = cuv_next_region (buffer, state);

      fail_unless (roi != NULL, "%s: model %u: %u objects, not %u", what, i, k,
          boxes->len);
      check_object (
          self, i, roi, &g_array_index (boxes, CuvWaldboostBox, k), what);
    }
    g_array_unref (boxes);
  }
}

void
check_next (Run *self, const gchar *what)
{
  g_autoptr (GstBuffer) buffer = push (self->h, self->sample);
  gpointer state = NULL;

  check_buffer (self, buffer, NULL, &state, what);
  fail_unless (cuv_next_region (buffer, &state) == NULL, "%s: more", what);
}

/* ---- files ---- */

/* Writes the model of write_channels_model() with other levels and thresholds,
 * whose window stays inside the picture. */
static gchar *
write_more_channels (void)
{
  gchar *path = write_channels_model (), *text;
  gsize size;
  GString *changed;

  fail_unless (g_file_get_contents (path, &text, &size, NULL));
  changed = g_string_new (text);
  g_string_replace (changed, "levels=\"8\"", "levels=\"3\"", 1);
  g_string_replace (changed, "overhang=\"1\"", "overhang=\"0\"", 1);
  g_string_replace (changed, "threshold=\"-200\"", "threshold=\"-350\"", 1);
  fail_unless (g_file_set_contents (path, changed->str, -1, NULL));
  g_string_free (changed, TRUE);
  g_free (text);
  return path;
}

void
set_up_files (void)
{
  files[CASCADE] = g_strdup (MODEL);
  files[CHANNELS] = write_channels_model ();
  files[RANK] = write_rank_model ();
  files[MORE_CHANNELS] = write_more_channels ();
}

void
tear_down_files (void)
{
  for (guint i = 0; i < N_FILES; i++) {
    if (i != CASCADE)
      g_remove (files[i]);
    g_clear_pointer (&files[i], g_free);
  }
}
