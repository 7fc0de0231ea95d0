/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a model of each kind that waldboostdetect reads. Features and
 * responses are arbitrary: their hits are compared, not judged. */
#include "verify.h"

#define WINDOW 16
#define N_WEAK 8

/* Returns a number from low to high, which depends on what it is for. */
static gint
choose (guint i, gint what, gint low, gint high)
{
  return low + (gint) verify_scatter (70 + i, what, 0) % (high - low + 1);
}

static void
write_numbers (GString *text, guint i, gint what, guint n)
{
  for (guint k = 0; k < n; k++)
    g_string_append_printf (text, "%d ", choose (i, what + (gint) k, -16, 16));
}

/* ---- BUT FIT's models ---- */

static void
write_weak (GString *text, guint i, const gchar *feature, guint n_values)
{
  const gint width = choose (i, 0, 1, 4), height = choose (i, 1, 1, 4);

  g_string_append (text,
      "<stage posT=\"1e+50\" negT=\"-8\">"
      "<HistogramWeakHypothesis predictionValues=\"");
  write_numbers (text, i, 10, n_values);
  g_string_append_printf (text,
      "\"><%s positionX=\"%d\" positionY=\"%d\" blockWidth=\"%d\" "
      "blockHeight=\"%d\" blockA=\"%d\" blockB=\"%d\"/>"
      "</HistogramWeakHypothesis></stage>\n",
      feature, choose (i, 2, 0, WINDOW - 3 * width),
      choose (i, 3, 0, WINDOW - 3 * height), width, height, choose (i, 4, 0, 8),
      choose (i, 5, 0, 8));
}

static void
write_butfit (
    GString *text, const gchar *type, const gchar *feature, guint n_values)
{
  g_string_append_printf (text,
      "<WaldBoostClassifier type=\"%s\" sizeX=\"%d\" sizeY=\"%d\">\n", type,
      WINDOW, WINDOW);
  for (guint i = 0; i < N_WEAK; i++)
    write_weak (text, i, feature, n_values);
  g_string_append (text, "</WaldBoostClassifier>\n");
}

static void
write_lrd (GString *text)
{
  write_butfit (text, "LRD", "LRDFeature", 17);
}

static void
write_lrp (GString *text)
{
  write_butfit (text, "LRP", "LRP", 100);
}

/* ---- OpenCV's Haar cascades ---- */

static void
write_haar_stage (GString *text, guint stage)
{
  g_string_append_printf (text,
      "<_><maxWeakCount>%d</maxWeakCount><stageThreshold>-2.</stageThreshold>"
      "<weakClassifiers>\n",
      N_WEAK / 2);
  for (guint i = stage * N_WEAK / 2; i < (stage + 1) * N_WEAK / 2; i++) {
    g_string_append_printf (text,
        "<_><internalNodes>0 -1 %u %d.0e-3</internalNodes><leafValues>", i,
        choose (i, 6, -20, 20));
    write_numbers (text, i, 10, 2);
    g_string_append (text, "</leafValues></_>\n");
  }
  g_string_append (text, "</weakClassifiers></_>\n");
}

/* The feature compares a rectangle with its right half. */
static void
write_haar_feature (GString *text, guint i)
{
  const gint width = choose (i, 0, 1, 6), height = choose (i, 1, 1, 12);
  const gint x = choose (i, 2, 0, WINDOW - 2 * width);
  const gint y = choose (i, 3, 0, WINDOW - height);

  g_string_append_printf (text,
      "<_><rects><_>%d %d %d %d -1.</_><_>%d %d %d %d 2.</_></rects></_>\n", x,
      y, 2 * width, height, x + width, y, width, height);
}

static void
write_haar (GString *text)
{
  g_string_append_printf (text,
      "<?xml version=\"1.0\"?>\n<opencv_storage>"
      "<cascade type_id=\"opencv-cascade-classifier\">"
      "<stageType>BOOST</stageType><featureType>HAAR</featureType>"
      "<height>%d</height><width>%d</width>"
      "<stageParams><maxDepth>1</maxDepth><maxWeakCount>%d</maxWeakCount>"
      "</stageParams><featureParams><maxCatCount>0</maxCatCount>"
      "<featSize>1</featSize></featureParams><stageNum>2</stageNum><stages>\n",
      WINDOW, WINDOW, N_WEAK);
  write_haar_stage (text, 0);
  write_haar_stage (text, 1);
  g_string_append (text, "</stages><features>\n");
  for (guint i = 0; i < N_WEAK; i++)
    write_haar_feature (text, i);
  g_string_append (text, "</features></cascade></opencv_storage>\n");
}

/* ---- trees on channels ---- */

static void
write_channels (GString *text)
{
  g_string_append (text,
      "<CuvisionChannels version=\"1\" width=\"32\" height=\"32\" shrink=\"4\" "
      "levels=\"4\" overhang=\"1\" object=\"0 0 32 32\" depth=\"2\" "
      "threshold=\"-4\" confidence=\"0 64\">\n");
  for (guint i = 0; i < N_WEAK; i++) {
    g_string_append (text, "<tree>-8 ");
    for (gint node = 0; node < 3; node++)
      g_string_append_printf (text, "%d %d %d %d ", choose (i, 4 * node, 0, 9),
          choose (i, 4 * node + 1, 0, 7), choose (i, 4 * node + 2, 0, 7),
          choose (i, 4 * node + 3, 20, 160));
    write_numbers (text, i, 20, 4);
    g_string_append (text, "</tree>\n");
  }
  g_string_append (text, "</CuvisionChannels>\n");
}

gboolean
verify_model_write (VerifyModel kind, GError **error)
{
  static void (*const write[]) (GString * text) = { [MODEL_LRD] = write_lrd,
    [MODEL_LRP] = write_lrp,
    [MODEL_HAAR] = write_haar,
    [MODEL_CHANNELS] = write_channels };
  GString *text = g_string_new (NULL);
  gboolean ok;

  write[kind](text);
  ok = g_file_set_contents (VERIFY_MODEL, text->str, (gssize) text->len, error);
  g_string_free (text, TRUE);
  return ok;
}
