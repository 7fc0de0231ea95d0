/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inference-region=roi-list: each region is searched as if it were the whole
 * picture. */
#include "config.h"
#include "base/gstcuvfilter.h"
#include "model/file.h"
#include "picture.h"

#include <string.h>

#define LIST "inference-region=roi-list min-neighbors=0 "

typedef struct {
  const gchar *label;
  guint x, y, w, h;
  gint id;
} Region;

static GstBuffer *
with_regions (GstSample *sample, const Region *regions, guint n)
{
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (sample));

  for (guint i = 0; i < n; i++) {
    const Region *r = &regions[i];

    gst_buffer_add_video_region_of_interest_meta (
        buffer, r->label, r->x, r->y, r->w, r->h)
        ->id = r->id;
  }
  return buffer;
}

static GstBuffer *
push_regions (GstHarness *h, GstSample *sample, const Region *regions, guint n)
{
  GstBuffer *out =
      gst_harness_push_and_pull (h, with_regions (sample, regions, n));

  fail_if (out == NULL);
  return out;
}

/* Iterates over the objects: the metas after those of the n regions. */
static GstVideoRegionOfInterestMeta *
next_object (GstBuffer *buffer, gpointer *state, guint n)
{
  if (*state == NULL) {
    for (guint i = 0; i < n; i++)
      gst_buffer_iterate_meta_filtered (
          buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  }
  return cuv_next_region (buffer, state);
}

/* Computes the intersection of region, limit and frame. */
static gboolean
part_of (const Region *region, const CuvRoi *limit, CuvRoi *part)
{
  part->left = MAX ((gint) MIN (region->x, 30000), limit->left);
  part->top = MAX ((gint) MIN (region->y, 30000), limit->top);
  part->right =
      MIN ((gint) MIN ((guint64) region->x + region->w, 30000), limit->right);
  part->bottom =
      MIN ((gint) MIN ((guint64) region->y + region->h, 30000), limit->bottom);
  return part->left < part->right && part->top < part->bottom;
}

/* Checks the number of objects; returns it. */
static guint
check_regions (GstBuffer *buffer, GstSample *sample, const Wanted *wanted,
    const CuvRoi *limit, const Region *regions, guint n, const gchar *class)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint total = 0;

  for (guint i = 0; i < n; i++) {
    GArray *boxes;
    CuvRoi part;

    if ((class != NULL && strcmp (class, regions[i].label) != 0)
        || !part_of (&regions[i], limit, &part))
      continue;
    boxes = expect_in (sample, wanted, &part);
    for (guint k = 0; k < boxes->len; k++) {
      const CuvWaldboostBox *box = &g_array_index (boxes, CuvWaldboostBox, k);

      roi = next_object (buffer, &state, n);
      fail_unless (
          roi != NULL, "region %u: %u objects, not %u", i, k, boxes->len);
      fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
              && roi->w == (guint) box->width && roi->h == (guint) box->height,
          "region %u: box %u", i, k);
      fail_unless_equals_int (roi->parent_id, regions[i].id);
    }
    total += boxes->len;
    g_array_unref (boxes);
  }
  fail_unless_equals_int (n_objects (buffer), n + total);
  return total;
}

/* Regions of all kinds, different with every frame; the face in the picture is
 * at 227,94 and 36 pixels wide. */
CUV_TEST (test_crops)
{
  static const Region frames[][5] = {
    { { "face", 200, 60, 120, 130, 7 }, { "face", 220, 80, 60, 60, 8 },
        { "car", 0, 0, 300, 342, 9 }, { "face", 230, 95, 23, 40, 10 },
        { "face", 600, 20, 50, 50, 11 } },
    { { "car", 0, 0, 548, 342, 1 }, { "car", 0, 0, G_MAXUINT, G_MAXUINT, 2 },
        { "car", 211, 71, 77, 83, 3 }, { "face", 500, 300, 500, 500, 4 },
        { "face", 0, 0, 0, 0, 5 } },
    { { "face", 225, 90, 40, 44, 0 }, { "car", 225, 90, 40, 44, 0 },
        { "face", G_MAXUINT, 0, G_MAXUINT, 10, 12 },
        { "face", 219, 85, 55, 50, 13 }, { "face", 219, 85, 1, 1, 14 } },
  };
  static const gchar *const formats[] = { "NV12", "RGB", "YUY2" };
  const CuvRoi all = { 0, 0, 548, 342 }, part = { 101, 51, 402, 303 };
  static const guint faces[] = { 4, 2, 4 };
  Wanted wanted = defaults;
  guint found = 0;

  wanted.grouping.min_neighbours = 0;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s", formats[i]);
    GstSample *sample = decode_picture (caps);
    GstHarness *h = new_harness (LIST, sample);
    GstElement *d = detector (h);

    if (i == 2) { /* each region is enlarged and turned by itself */
      wanted.params.upscale = 1.5;
      wanted.params.rotation = 20;
      g_object_set (d, "upscale", 1.5, "rotations", "20", NULL);
    }
    for (guint k = 0; k < 2 * G_N_ELEMENTS (frames); k++) {
      const Region *regions = frames[k % G_N_ELEMENTS (frames)];
      const gchar *class = k % 2 == 0 ? NULL : "face";
      const CuvRoi *limit = k < G_N_ELEMENTS (frames) ? &all : &part;
      GstBuffer *buffer;

      g_object_set (d, "object-class", class, "roi",
          limit == &all ? NULL : "101,51,402,303", NULL);
      buffer = push_regions (h, sample, regions, 5);
      found +=
          check_regions (buffer, sample, &wanted, limit, regions, 5, class);
      gst_buffer_unref (buffer);
      fail_unless_equals_int (
          cuv_stat_uint (d, "regions"), class == NULL ? 5 : faces[k % 3]);
    }
    gst_object_unref (d);
    gst_harness_teardown (h);
    gst_sample_unref (sample);
    g_free (caps);
  }
  fail_unless (found > 50, "%u", found);
}

/* Regions whose size varies with each frame do not leak memory. */
CUV_TEST (test_many_sizes)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h = new_harness (LIST "scan=dense octaves=2", sample);
  const CuvRoi all = { 0, 0, 548, 342 };
  Wanted wanted = defaults;

  wanted.grouping.min_neighbours = 0;
  wanted.grouping.method = CUV_GROUPING_NMS;
  wanted.params.scan = CUV_SCAN_DENSE;
  wanted.params.octaves = 2;
  for (guint i = 0; i < 25; i++) {
    const Region region = { "face", 205 + i % 7, 80 - i % 5, 50 + 3 * i % 41,
      50 + 5 * i % 37, (gint) i };
    GstBuffer *buffer = push_regions (h, sample, &region, 1);

    check_regions (buffer, sample, &wanted, &all, &region, 1, NULL);
    gst_buffer_unref (buffer);
  }
}

/* Returns the number of levels in a square of this size, for a window of 24
 * pixels and a scale factor of 1.1. */
static guint
levels_in (guint size)
{
  guint n = 0;

  for (gdouble scale = 1; (guint) (24 * scale + 0.5) <= size; scale *= 1.1)
    n++;
  return n;
}

/* Stats count the levels of this frame's regions only. */
CUV_TEST (test_levels)
{
  static const Region frames[][3] = {
    { { "face", 0, 0, 342, 400, 1 }, { "face", 9, 9, 120, 130, 2 },
        { "face", 9, 9, 120, 23, 3 } },
    { { "face", 300, 20, 24, 24, 1 }, { "face", 9, 9, 0, 0, 2 },
        { "face", 600, 9, 50, 50, 3 } },
    { { "face", 200, 60, 23, 40, 1 }, { "face", 548, 342, 9, 9, 2 },
        { "face", 0, 0, 10, 10, 3 } },
    { { "face", 448, 242, 500, 500, 1 }, { "face", 448, 242, 500, 500, 2 },
        { "face", 0, 0, 90, 30, 3 } },
  };
  const guint wanted[] = { levels_in (342) + levels_in (120), 1, 0,
    2 * levels_in (100) + levels_in (30) };
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h = new_harness (LIST, sample);
  g_autoptr (GstElement) d = detector (h);

  for (guint i = 0; i < 3 * G_N_ELEMENTS (frames); i++) {
    guint k = i % G_N_ELEMENTS (frames);

    gst_buffer_unref (push_regions (h, sample, frames[k], 3));
    fail_unless_equals_int (cuv_stat_uint (d, "levels"), wanted[k]);
    gst_buffer_unref (push_regions (h, sample, NULL, 0));
    fail_unless_equals_int (cuv_stat_uint (d, "levels"), 0);
  }
  g_object_set (d, "inference-region", 0, NULL);
  gst_buffer_unref (push_regions (h, sample, frames[0], 3));
  fail_unless_equals_int (cuv_stat_uint (d, "levels"), levels_in (342));
  g_object_set (d, "roi", "10,10,30,200", NULL);
  gst_buffer_unref (push_regions (h, sample, frames[0], 3));
  fail_unless_equals_int (cuv_stat_uint (d, "levels"), 0);
}

static gint
parent_of_last (GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi, *last = NULL;
  gpointer state = NULL;

  while ((roi = next_object (buffer, &state, 0)) != NULL)
    last = roi;
  return last != NULL ? last->parent_id : -2;
}

/* Returns whether one of the objects after the n regions has a parent. */
static gboolean
has_parents (GstBuffer *buffer, guint n)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = next_object (buffer, &state, n)) != NULL) {
    if (roi->parent_id != -1)
      return TRUE;
  }
  return FALSE;
}

/* Without regions nothing is searched; inference-region changes while playing;
 * a held object does not refer to a parent that no longer exists, or to another
 * object that has the parent's id. */
CUV_TEST (test_live_changes)
{
  const Region face = { "face", 200, 60, 120, 130, 7 };
  const Region numbered_0 = { "face", 200, 60, 120, 130, 0 };
  const Region moved = { "face", 0, 0, 20, 20, 0 };
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  GstHarness *h = new_harness (LIST, sample);
  GstElement *d = detector (h);
  Wanted wanted = defaults;
  GstBuffer *buffer;

  wanted.grouping.min_neighbours = 0;
  buffer = push_regions (h, sample, NULL, 0);
  fail_unless_equals_int (n_objects (buffer), 0);
  gst_buffer_unref (buffer);
  g_object_set (d, "inference-region", 0, NULL);
  check_frame (h, sample, &wanted, "full-frame");
  g_object_set (d, "inference-region", 1, "inference-interval", 2,
      "hold-results", TRUE, NULL);
  gst_buffer_unref (push_regions (h, sample, &face, 1)); /* held */
  buffer = push_regions (h, sample, &face, 1);
  fail_unless (n_objects (buffer) > 1);
  fail_unless_equals_int (parent_of_last (buffer), 7);
  gst_buffer_unref (buffer);
  buffer = push_regions (h, sample, &face, 1);
  fail_unless (n_objects (buffer) > 1);
  fail_unless_equals_int (parent_of_last (buffer), 7);
  gst_buffer_unref (buffer);
  gst_object_unref (d);
  gst_harness_teardown (h);

  for (guint i = 0; i < 2; i++) {
    h = new_harness (LIST "inference-interval=2 hold-results=true", sample);
    buffer = with_regions (sample, &numbered_0, 1);
    GST_BUFFER_PTS (buffer) = 0;
    gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
    buffer = with_regions (sample, &moved, i);
    GST_BUFFER_PTS (buffer) = 40 * GST_MSECOND;
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless (n_objects (buffer) > i);
    fail_if (has_parents (buffer, i));
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

/* ---- frames that a tracker requests ---- */

CUV_TEST (test_requested_frame)
{
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");
  g_autoptr (GstHarness) h =
      new_harness (LIST "inference-interval=100", sample);
  g_autoptr (GstElement) d = detector (h);

  for (guint i = 0; i < 3; i++) {
    for (guint k = 0; k < 3; k++)
      gst_buffer_unref (push_regions (h, sample, NULL, 0));
    fail_unless_equals_uint64 (cuv_stat (d, "analysed"), i + 1);
    gst_harness_push_upstream_event (h, gst_cuv_event_new_request_analysis ());
  }
}

/* ---- two models in one pipeline ---- */

#define LABELS " labels=face,eye "

static gint
label_id_of (GstVideoRegionOfInterestMeta *roi)
{
  gint id = -1;

  gst_structure_get_int (
      gst_video_region_of_interest_meta_get_param (roi, "detection"),
      "label_id", &id);
  return id;
}

CUV_TEST (test_eyes_in_faces)
{
  g_autoptr (GstSample) sample =
      decode_picture ("video/x-raw,format=NV12,width=1644,height=1026");
  g_autoptr (GstHarness) h = new_line (
      "waldboostdetect model=lbpcascade_frontalface_improved.xml "
      "label=face" LABELS
      "! waldboostdetect name=d model=haarcascade_eye.xml label=eye" LABELS
      "inference-region=roi-list object-class=face",
      sample);
  g_autoptr (GstBuffer) buffer = push (h, sample);
  GstVideoRegionOfInterestMeta *roi, *face;
  gpointer state = NULL;
  guint faces = 0, eyes = 0;

  while ((roi = next_object (buffer, &state, 0)) != NULL) {
    if (label_id_of (roi) == 0) {
      assert_equals_string (g_quark_to_string (roi->roi_type), "face");
      fail_unless_equals_int (roi->parent_id, -1);
      faces++;
      continue;
    }
    fail_unless_equals_int (label_id_of (roi), 1);
    assert_equals_string (g_quark_to_string (roi->roi_type), "eye");
    face = gst_buffer_get_video_region_of_interest_meta_id (
        buffer, roi->parent_id);
    fail_unless (face != NULL && label_id_of (face) == 0);
    fail_unless (roi->x >= face->x && roi->y >= face->y
        && roi->x + roi->w <= face->x + face->w
        && roi->y + roi->h <= face->y + face->h);
    eyes++;
  }
  fail_unless (faces > 0 && eyes > 0, "%u faces, %u eyes", faces, eyes);
}

/* The work for one frame is bounded: 16 times its area, 1024 regions. */
CUV_TEST (test_too_many_regions)
{
  static const struct {
    Region region;
    guint n, searched;
  } cases[] = { { { "face", 0, 0, 548, 342, 1 }, 40, 16 },
    { { "face", 0, 0, 4, 4, 1 }, 1500, 1024 } };
  g_autoptr (GstSample) sample = decode_picture ("video/x-raw,format=NV12");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness (LIST, sample);
    GstBus *bus = cuv_harness_watch (h);
    GstBuffer *frame = with_regions (sample, &cases[i].region, 1);
    gchar *text =
        g_strdup_printf ("Only the first %u of %u objects of a frame are used",
            cases[i].searched, cases[i].n);

    for (guint k = 1; k < cases[i].n; k++)
      gst_buffer_add_video_region_of_interest_meta (
          frame, "face", 0, 0, cases[i].region.w, cases[i].region.h);
    for (guint k = 0; k < 2; k++)
      gst_buffer_unref (gst_harness_push_and_pull (
          h, k == 0 ? gst_buffer_copy (frame) : frame));
    expect_problem (bus, GST_MESSAGE_WARNING, text);
    expect_no_warning (bus);
    g_free (text);
    cuv_harness_unwatch (h, bus);
    gst_harness_teardown (h);
  }
}

static const char *
run_fails (void *state, void *job, const CuvProcessor *processor)
{
  return "out of memory";
}

/* A detector whose run failed is replaced, instead of finding nothing. */
CUV_TEST (test_failed_change_of_region)
{
  static guint8 pixels[64 * 64];
  const CuvFrame frame = { CUV_MODEL_GREY, 64, 64, 1,
    { { pixels, 64, 1, 0, 0 } } };
  const CuvProcessor processor = { .n_threads = 1 };
  const CuvRoi region = { 0, 0, 40, 40 };
  const CuvWaldboostModel *model =
      cuv_model_load (defaults.model, &defaults.options, NULL);
  CuvBackendClass failing = { .run = run_fails };
  CuvWaldboostDetector *detector;
  CuvWaldboostResult result;
  const gchar *error;

  detector = cuv_waldboost_detector_new (
      &model, 1, &defaults.params, &defaults.roi, &frame, &processor, &error);
  fail_unless (detector != NULL, "%s", error);
  fail_unless (cuv_waldboost_detector_matches (detector, &model, 1,
      &defaults.params, &defaults.roi, &frame, &processor));
  failing.close = detector->passes[0].backend.klass->close;
  detector->passes[0].backend.klass = &failing;
  fail_unless (cuv_waldboost_detector_run (
                   detector, &frame, &region, &processor, &result)
      != NULL);
  fail_if (cuv_waldboost_detector_matches (detector, &model, 1,
      &defaults.params, &defaults.roi, &frame, &processor));
  cuv_waldboost_detector_free (detector);
  cuv_model_unref (model);
}
