/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inference-region=roi-centers: what is found in the whole picture, where it is
 * centred in a region. */
#include "config.h"
#include "picture.h"

#include <string.h>

#define CENTERS "inference-region=roi-centers object-class=motion message=none "
/* visits every window */
#define DENSE "scan=dense octaves=2 grouping=none "

enum { WIDTH = 548, HEIGHT = 342, N_REGIONS = 3 };

typedef struct {
  const gchar *label;
  guint x, y, width, height;
} Region;

/* The face in the picture is at 227,94 and 36 pixels wide. */
static const Region cases[][N_REGIONS] = {
  { { "motion", 230, 95, 23, 40 } },
  { { "motion", 240, 100, 4, 30 }, { "face", 0, 0, 548, 342 } },
  { { "motion", 220, 80, 60, 60 }, { "motion", 230, 90, 60, 60 },
      { "motion", 0, 300, 500, 500 } },
  { { "motion", 0, 0, 548, 342 }, { "motion", 600, 20, 50, 50 },
      { "motion", 0, 0, 0, 0 } },
};

static GstBuffer *
push_case (GstHarness *h, GstSample *sample, const Region *regions)
{
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (sample));

  for (gint i = 0; i < N_REGIONS && regions[i].label != NULL; i++) {
    const Region *r = &regions[i];

    gst_buffer_add_video_region_of_interest_meta (
        buffer, r->label, r->x, r->y, r->width, r->height)
        ->id = 10 + i;
  }
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_if (buffer == NULL);
  return buffer;
}

/* Returns the id of the first region in which the box is centred, or -1. */
static gint
region_around (const CuvWaldboostBox *box, const Region *regions)
{
  const gdouble x = box->x + box->width / 2., y = box->y + box->height / 2.;

  for (gint i = 0; i < N_REGIONS; i++) {
    const Region *r = &regions[i];

    if (g_strcmp0 (r->label, "motion") == 0 && x >= r->x && x < r->x + r->width
        && y >= r->y && y < r->y + r->height)
      return 10 + i;
  }
  return -1;
}

/* Returns the next object that is not one of the regions. */
static GstVideoRegionOfInterestMeta *
next_found (GstBuffer *buffer, gpointer *state)
{
  GstVideoRegionOfInterestMeta *roi;

  do {
    roi = cuv_next_region (buffer, state);
  } while (roi != NULL
      && gst_video_region_of_interest_meta_get_param (roi, "detection")
          == NULL);
  return roi;
}

/* Checks that the buffer has the boxes that are centred in regions, each once.
 * Returns their number. */
static guint
check_found (GstBuffer *buffer, GArray *boxes, const Region *regions)
{
  gpointer state = NULL;
  guint n = 0;

  for (guint i = 0; i < boxes->len; i++) {
    const CuvWaldboostBox *box = &g_array_index (boxes, CuvWaldboostBox, i);
    const gint parent = region_around (box, regions);
    GstVideoRegionOfInterestMeta *roi;

    if (parent < 0)
      continue;
    roi = next_found (buffer, &state);
    fail_unless (roi != NULL, "box %u is missing: %d,%d %dx%d", i, box->x,
        box->y, box->width, box->height);
    fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
            && roi->w == (guint) box->width && roi->h == (guint) box->height,
        "box %u", i);
    fail_unless_equals_int (roi->parent_id, parent);
    n++;
  }
  fail_unless (next_found (buffer, &state) == NULL, "more than %u boxes", n);
  return n;
}

static guint
count_found (GstBuffer *buffer)
{
  gpointer state = NULL;
  guint n = 0;

  while (next_found (buffer, &state) != NULL)
    n++;
  return n;
}

static guint
check_cases (const gchar *properties, const Wanted *wanted, const gchar *caps)
{
  g_autoptr (GstSample) sample = decode_picture (caps);
  g_autofree gchar *all = g_strconcat (CENTERS, properties, NULL);
  g_autoptr (GstHarness) h = new_harness (all, sample);
  g_autoptr (GArray) boxes = expect (sample, wanted);
  guint n = 0;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const Region *regions = cases[i % G_N_ELEMENTS (cases)];
    g_autoptr (GstBuffer) buffer = push_case (h, sample, regions);

    n += check_found (buffer, boxes, regions);
  }
  return n;
}

static Wanted
every_window (void)
{
  Wanted wanted = defaults;

  wanted.grouping.method = CUV_GROUPING_NONE;
  wanted.params.scan = CUV_SCAN_DENSE;
  wanted.params.octaves = 2;
  return wanted;
}

CUV_TEST (test_cases)
{
  Wanted wanted = every_window ();

  fail_unless (check_cases (DENSE, &wanted, "video/x-raw,format=NV12") > 100);
  wanted.params.rotation = 20;
  fail_unless (
      check_cases (DENSE "rotations=20", &wanted, "video/x-raw,format=YUY2")
      > 10);
}

/* The regions are those of the frame, also in a roi. */
CUV_TEST (test_roi)
{
  Wanted wanted = every_window ();

  wanted.roi = (CuvRoi){ 101, 51, 402, 303 };
  fail_unless (check_cases (DENSE "roi=101,51,402,303", &wanted,
                   "video/x-raw,format=NV12")
      > 100);
}

static guint64
windows_of (GstElement *detector)
{
  return cuv_stat (detector, "windows");
}

/* A small region takes few windows, and finds the face as it is found in the
 * whole picture; without regions nothing is searched. */
CUV_TEST (test_work)
{
  static const Region nowhere[N_REGIONS] = { { NULL, 0, 0, 0, 0 } };
  static const Region corner[N_REGIONS] = { { "motion", 0, 0, 20, 20 } };
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h = new_harness (CENTERS, sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GArray) boxes = expect (sample, &defaults);
  GstBuffer *buffer;
  guint64 whole;

  gst_buffer_unref (push_case (h, sample, cases[3]));
  whole = windows_of (d);
  for (gint i = 0; i < 2; i++) {
    buffer = push_case (h, sample, cases[0]);
    fail_unless_equals_int (check_found (buffer, boxes, cases[0]), 1);
    gst_buffer_unref (buffer);
    fail_unless (windows_of (d) > 0 && windows_of (d) < whole / 50,
        "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, windows_of (d), whole);
    gst_buffer_unref (push_case (h, sample, nowhere));
    fail_unless_equals_uint64 (windows_of (d), 0);
    fail_unless_equals_int (cuv_stat_uint (d, "levels"), 0);
    buffer = push_case (h, sample, corner);
    fail_unless_equals_int (check_found (buffer, boxes, corner), 0);
    gst_buffer_unref (buffer);
  }
}

/* The property changes while playing. */
CUV_TEST (test_live_changes)
{
  static const gchar *const modes[] = { "roi-centers", "full-frame",
    "roi-centers", "roi-list", "roi-centers" };
  const Wanted wanted = every_window ();
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h = new_harness (CENTERS DENSE, sample);
  g_autoptr (GstElement) d = detector (h);
  g_autoptr (GArray) boxes = expect (sample, &wanted);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    GstBuffer *buffer;

    gst_util_set_object_arg (G_OBJECT (d), "inference-region", modes[i]);
    buffer = push_case (h, sample, cases[2]);
    if (i % 2 == 0)
      fail_unless (check_found (buffer, boxes, cases[2]) > 0);
    else if (i == 1)
      fail_unless_equals_int (count_found (buffer), boxes->len);
    gst_buffer_unref (buffer);
  }
}

/* Paints 40 x 40 pixels of the luma plane white. */
static GstBuffer *
with_white_square (GstSample *sample)
{
  GstBuffer *buffer = gst_buffer_copy_deep (gst_sample_get_buffer (sample));
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint y = 200; y < 240; y++)
    memset ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
            + (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0)
            + 200,
        235, 40);
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* Behind visionmotion nothing is searched in an empty scene. */
CUV_TEST (test_empty_scene)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h =
      new_line ("visionmotion shadows=false ! waldboostdetect name=d "
                "model=" MODEL " " CENTERS,
          sample);
  g_autoptr (GstElement) d = detector (h);
  GstBuffer *buffer;

  for (guint i = 0; i < 10; i++) {
    gst_buffer_unref (push (h, sample));
    fail_unless_equals_uint64 (cuv_stat (d, "analysed"), i + 1);
    fail_unless_equals_uint64 (windows_of (d), 0);
  }
  buffer = gst_harness_push_and_pull (h, with_white_square (sample));
  fail_if (buffer == NULL);
  gst_buffer_unref (buffer);
  fail_unless (windows_of (d) > 0);
  fail_unless_equals_int (cuv_stat_uint (d, "regions"), 1);
}
