/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements whose work on a frame overlaps on the GPU publish the same results
 * and draw the same pixels as elements that wait for each other, because there
 * is an identity between them. */
#include "device.h"
#include "gstcuvturns.h"

#include <dlfcn.h>
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

#define PHOTO                                                                  \
  "filesrc location=PICTURE ! jpegdec ! videoconvert "                         \
  "! video/x-raw,format=NV12 "

/* All frames are one buffer; but for visionmotion a ball moves in them. */
#define STILL "cuvcudaupload ! imagefreeze num-buffers=FRAMES "
#define MOVING                                                                 \
  "imagefreeze num-buffers=FRAMES ! video/x-raw,framerate=25/1 ! mix. "        \
  "videotestsrc pattern=ball num-buffers=FRAMES ! "                            \
  "video/x-raw,width=96,height=72,"                                            \
  "framerate=25/1 ! mix. compositor name=mix ! video/x-raw,format=NV12 "       \
  "! cuvcudaupload "

/* Plays the pipeline, in which FRAMES is their number and PICTURE a photo. */
static void
play (GString *line, guint n_frames)
{
  gchar *picture = cuv_test_file ("messi5.jpg"), *problem;
  gchar *frames = g_strdup_printf ("%u", n_frames);
  GstElement *pipeline;

  g_string_replace (line, "PICTURE", picture, 0);
  g_string_replace (line, "FRAMES", frames, 0);
  pipeline = gst_parse_launch (line->str, NULL);
  fail_unless (pipeline != NULL, "%s", line->str);
  problem = cuv_pipeline_play (pipeline);
  fail_unless (problem == NULL, "%s: %s", line->str, problem);
  gst_object_unref (pipeline);
  g_free (picture);
  g_free (frames);
}

/* Returns the records of a file, without their times of day, and removes it. */
static gchar *
take_records (const gchar *file)
{
  GRegex *clock = g_regex_new ("\"wallclock\":\"[^\"]*\"", 0, 0, NULL);
  gchar *text, *records;

  fail_unless (g_file_get_contents (file, &text, NULL, NULL));
  fail_unless_equals_int (g_unlink (file), 0);
  records = g_regex_replace (clock, text, -1, 0, "", 0, NULL);
  g_regex_unref (clock);
  g_free (text);
  return records;
}

/* Plays the line. Returns the records, and sets *pixels to the checksum of all
 * frames: of NV12, whose rows have no padding. */
static gchar *
results_of (const gchar *line, const gchar *separator, gchar **pixels)
{
  /* the background takes five frames to learn */
  const gboolean moves = strstr (line, "motion") != NULL;
  GString *all =
      g_string_new (PHOTO "! SOURCE ! LINE ! visionpublish file-path=results "
                          "! cuvcudadownload ! filesink location=frames");
  gchar *text;
  gsize size;

  g_string_replace (all, "SOURCE", moves ? MOVING : STILL, 0);
  g_string_replace (all, "LINE", line, 0);
  g_string_replace (all, "SEPARATE", separator, 0);
  play (all, cuv_rounds (moves ? 7 : 4, 10));
  fail_unless (g_file_get_contents ("frames", &text, &size, NULL));
  *pixels = g_compute_checksum_for_data (
      G_CHECKSUM_SHA256, (const guchar *) text, size);
  g_string_free (all, TRUE);
  g_free (text);
  return take_records ("results");
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

/* ---- turns ---- */

#define N_STREAMS 9 /* more than may have a frame on the GPU at a time */

static GstCuvTurns *at_gpu;            /* atomic */
static gint n_waits, n_begun, n_ended; /* atomic */

/* These two come before those of the library, and count turns at the GPU, which
 * several threads have at a time, unlike those to post messages. */
gboolean
gst_cuv_turns_begin (GstCuvTurns *self, guint most, gint64 longest)
{
  gboolean (*begin) (GstCuvTurns *, guint, gint64) =
      dlsym (RTLD_NEXT, "gst_cuv_turns_begin");
  const gboolean begun = begin (self, most, longest);

  if (most == 1)
    return begun;
  g_atomic_pointer_set (&at_gpu, self);
  g_atomic_int_inc (&n_waits);
  if (begun)
    g_atomic_int_inc (&n_begun);
  return begun;
}

void
gst_cuv_turns_end (GstCuvTurns *self)
{
  void (*end) (GstCuvTurns *) = dlsym (RTLD_NEXT, "gst_cuv_turns_end");

  if (self == g_atomic_pointer_get (&at_gpu))
    g_atomic_int_inc (&n_ended);
  end (self);
}

/* Plays N_STREAMS streams of a detector and houghlines. All publish the same,
 * and each thread asks for a turn n_turns times, and ends those it gets. */
static void
play_streams (const gchar *detector, guint n_frames, guint n_turns)
{
  GString *all = g_string_new (PHOTO "! " STILL "! tee name=frames");
  gchar *expected;

  for (guint i = 0; i < N_STREAMS; i++)
    g_string_append_printf (all,
        " frames. ! queue ! %s ! houghlines "
        "! visionpublish file-path=%u ! fakesink async=false",
        detector, i);
  n_waits = n_begun = n_ended = 0;
  cuv_folder_enter ();
  play (all, n_frames);
  expected = take_records ("0");
  fail_unless (strstr (expected, "frontalface") != NULL, "%s", expected);
  for (guint i = 1; i < N_STREAMS; i++) {
    gchar *file = g_strdup_printf ("%u", i), *records = take_records (file);

    fail_unless_equals_string (records, expected);
    g_free (records);
    g_free (file);
  }
  cuv_folder_leave ();
  fail_unless_equals_int (n_waits, N_STREAMS * n_turns);
  fail_unless_equals_int (n_ended, n_begun);
  fail_unless (n_begun > 0);
  g_string_free (all, TRUE);
  g_free (expected);
}

/* Both elements work on a frame in one turn; on the first in two, because
 * houghlines is not configured yet when it comes. */
CUV_TEST_IF (many_streams, use_cuda)
{
  const guint n_frames = cuv_rounds (2, 50);

  play_streams (FACES, n_frames, n_frames + 1);
}

/* A detector of two rotations cannot start without waiting. */
CUV_TEST_IF (many_streams_that_wait, use_cuda)
{
  const guint n_frames = cuv_rounds (1, 50);

  play_streams (FACES "rotations=0,90", n_frames, 2 * n_frames);
}
