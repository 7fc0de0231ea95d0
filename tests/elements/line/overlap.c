/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements whose work on a frame overlaps on the GPU publish the same results
 * and draw the same pixels as elements that wait for each other, because there
 * is an identity between them. */
#include "device.h"

#include <glib/gstdio.h>
#include <string.h>

#define FACES "waldboostdetect model=haarcascade_frontalface_default.xml "
#define SETTINGS " hold-results=true skip-late=false "

/* SEPARATE becomes "" or an identity. */
static const gchar *lines[] = {
  FACES "! SEPARATE houghlines",
  "houghlines ! SEPARATE " FACES,
  FACES "! SEPARATE houghlines segments=true ! SEPARATE waldboostdetect "
        "model=lbpcascade_frontalface_improved.xml",
  FACES "! SEPARATE houghlines inference-interval=2" SETTINGS
        "! SEPARATE waldboostdetect model=haarcascade_eye.xml "
        "inference-region=roi-list object-class=frontalface_default",
  "houghlines ! SEPARATE " FACES "inference-interval=3" SETTINGS
  "! SEPARATE houghlines draw=edges ! SEPARATE ldpdescriptor",
  FACES "! SEPARATE houghlines ! SEPARATE rcdtrack",
  FACES "! SEPARATE houghlines ! SEPARATE visionoverlay",
  FACES "inference-interval=2 ! SEPARATE visionoverlay "
        "! SEPARATE houghlines ! SEPARATE visionoverlay",
  FACES "! SEPARATE visionmotion min-area=16 ! SEPARATE houghlines",
  "visionmotion min-area=16 ! SEPARATE houghlines ! "
  "SEPARATE " FACES "! SEPARATE visionoverlay",
  "visionmotion scene-change=0.001 ! SEPARATE " FACES "! SEPARATE houghlines",
};

/* All frames are one buffer; but for visionmotion a ball moves in them. */
#define STILL "cuvcudaupload ! imagefreeze num-buffers=FRAMES "
#define MOVING                                                                 \
  "imagefreeze num-buffers=FRAMES ! video/x-raw,framerate=25/1 ! mix. "        \
  "videotestsrc pattern=ball num-buffers=FRAMES ! "                            \
  "video/x-raw,width=96,height=72,"                                            \
  "framerate=25/1 ! mix. compositor name=mix ! video/x-raw,format=NV12 "       \
  "! cuvcudaupload "

/* Plays the line. Returns the records without their times of day, and sets
 * *pixels to the checksum of all frames: of NV12, whose rows have no padding.
 */
static gchar *
results_of (const gchar *line, const gchar *separator, gchar **pixels)
{
  GRegex *clock = g_regex_new ("\"wallclock\":\"[^\"]*\"", 0, 0, NULL);
  gchar *picture = cuv_test_file ("messi5.jpg"), *text, *results, *problem;
  /* the background takes five frames to learn */
  const gboolean moves = strstr (line, "motion") != NULL;
  gchar *frames = g_strdup_printf ("%u", cuv_rounds (moves ? 7 : 4, 10));
  GString *all =
      g_string_new ("filesrc location=PICTURE ! jpegdec "
                    "! videoconvert ! video/x-raw,format=NV12 "
                    "! SOURCE ! LINE ! visionpublish file-path=results "
                    "! cuvcudadownload ! filesink location=frames");
  GstElement *pipeline;
  gsize size;

  g_string_replace (all, "PICTURE", picture, 0);
  g_string_replace (all, "SOURCE", moves ? MOVING : STILL, 0);
  g_string_replace (all, "LINE", line, 0);
  g_string_replace (all, "SEPARATE", separator, 0);
  g_string_replace (all, "FRAMES", frames, 0);
  pipeline = gst_parse_launch (all->str, NULL);
  fail_unless (pipeline != NULL, "%s", all->str);
  problem = cuv_pipeline_play (pipeline);
  fail_unless (problem == NULL, "%s: %s", all->str, problem);
  gst_object_unref (pipeline);
  fail_unless (g_file_get_contents ("results", &text, NULL, NULL));
  fail_unless_equals_int (g_unlink ("results"), 0);
  results = g_regex_replace (clock, text, -1, 0, "", 0, NULL);
  g_free (text);
  fail_unless (g_file_get_contents ("frames", &text, &size, NULL));
  *pixels = g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, (const guchar *) text, size);
  g_regex_unref (clock);
  g_string_free (all, TRUE);
  g_free (picture);
  g_free (frames);
  g_free (text);
  return results;
}

CUV_LOOP_TEST (same_results, G_N_ELEMENTS (lines))
{
  gchar *results, *expected, *pixels, *expected_pixels;

  cuv_folder_enter ();
  results = results_of (lines[__i__], "", &pixels);
  expected = results_of (lines[__i__], "identity ! ", &expected_pixels);
  cuv_folder_leave ();
  fail_unless (strstr (results, "frontalface") != NULL, "%s", results);
  fail_unless (strstr (results, "\"lines\"") != NULL, "%s", results);
  if (strstr (lines[__i__], "min-area") != NULL)
    fail_unless (strstr (results, "\"motion\":[{") != NULL, "%s", results);
  if (strstr (lines[__i__], "scene-change") != NULL)
    fail_unless (
        strstr (results, "\"scene_change\":true") != NULL, "%s", results);
  fail_unless (strcmp (results, expected) == 0, "%s\n%s\n%s", lines[__i__],
      results, expected);
  fail_unless_equals_string (pixels, expected_pixels);
  g_free (pixels);
  g_free (expected_pixels);
  g_free (results);
  g_free (expected);
}
