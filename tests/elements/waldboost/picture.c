/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "picture.h"

#include <math.h>
#include <string.h>

#include "context/gstcuvframe.h"
#include "model/file.h"

/* ---- frames ---- */

GstSample *
decode_picture (const gchar *caps)
{
  g_autofree gchar *path = cuv_test_file ("messi5.jpg");
  g_autofree gchar *line =
      g_strdup_printf ("filesrc location=%s ! jpegdec ! videoconvert ! "
                       "videoscale ! %s ! appsink name=sink sync=false",
          path, caps);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, NULL);
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = cuv_pull_sample (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

GstHarness *
new_line (const gchar *line, GstSample *sample)
{
  g_autofree gchar *whole = g_strdup_printf (
      use_cuda ? "cuvcudaupload ! %s ! cuvcudadownload" : "%s", line);
  GstHarness *h = gst_harness_new_parse (whole);
  GstCaps *caps = gst_sample_get_caps (sample);

  gst_harness_set_live (h, FALSE); /* else late frames would be skipped */
  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  return h;
}

GstHarness *
new_harness (const gchar *properties, GstSample *sample)
{
  g_autofree gchar *line =
      g_strdup_printf ("waldboostdetect name=d model=" MODEL " %s", properties);
  GstHarness *h = new_line (line, sample);

  return h;
}

GstElement *
detector (GstHarness *h)
{
  return gst_bin_get_by_name (GST_BIN (h->element), "d");
}

GstBuffer *
push (GstHarness *h, GstSample *sample)
{
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (sample));
  GstBuffer *out = gst_harness_push_and_pull (h, buffer);

  fail_if (out == NULL);
  return out;
}

/* ---- expectation ---- */

const Wanted defaults = { .model = MODEL,
  .params = { .scale_factor = 1.1, .octaves = 4, .levels_per_octave = 8 },
  .grouping = { .min_neighbours = 3, .nms_iou = 0.3, .nms_inside = 0.65 } };

static GArray *
detect (const CuvFrame *frame, const Wanted *wanted)
{
  const CuvWaldboostModel *model =
      cuv_model_load (wanted->model, &wanted->options, NULL);
  CuvWaldboostGrouper *grouper = cuv_waldboost_grouper_new ();
  GArray *result = g_array_new (FALSE, FALSE, sizeof (CuvWaldboostBox));
  const CuvWaldboostBox *boxes;
  CuvWaldboostResult hits;
  const CuvProcessor processor = { .n_threads = 1 };
  CuvWaldboostDetector *detector;
  const gchar *error;
  gint n;

  fail_unless (model != NULL, "no model %s", wanted->model);
  detector = cuv_waldboost_detector_new (
      &model, 1, &wanted->params, &wanted->roi, frame, &processor, &error);
  fail_unless (detector != NULL, "%s", error);
  fail_unless (
      cuv_waldboost_detector_run (detector, frame, NULL, &processor, &hits)
      == NULL);
  n = cuv_waldboost_group (grouper, detector->plans[0], &wanted->grouping,
      hits.hits, hits.n_hits, &boxes);
  for (gint i = 0; i < n; i++) {
    CuvWaldboostBox box = boxes[i];

    box.x += detector->x;
    box.y += detector->y;
    g_array_append_val (result, box);
  }
  cuv_waldboost_detector_free (detector);
  cuv_waldboost_grouper_free (grouper);
  cuv_model_unref (model);
  return result;
}

/* Returns the red, green or blue of a pixel. */
static guint8
color_of (const CuvFrame *frame, const CuvRgbMatrix *matrix, gint color, gint x,
    gint y)
{
  if (frame->model == CUV_MODEL_RGB)
    return (guint8) cuv_rgb_sample (&frame->component[color], x, y);
  return cuv_rgb_of_yuv (matrix->m[color],
      cuv_rgb_sample (&frame->component[0], x, y),
      cuv_rgb_sample (&frame->component[1], x, y),
      cuv_rgb_sample (&frame->component[2], x, y));
}

/* Detects in a copy of this part of the frame, grey or in colour. */
static GArray *
detect_in (const CuvFrame *frame, const Wanted *wanted, const CuvRoi *part)
{
  gint width = part->right - part->left, height = part->bottom - part->top;
  CuvFrame copy = { wanted->in_colour ? CUV_MODEL_RGB : CUV_MODEL_GREY, width,
    height, wanted->in_colour ? 3 : 1, { { 0 } } };
  const gsize n = (gsize) width * height;
  g_autofree guint8 *pixels = g_malloc (3 * n);
  GArray *boxes;

  for (gint i = 0; i < copy.n_components; i++) {
    copy.component[i] =
        (CuvComponent){ .data = pixels + i * n, .stride = width, .step = 1 };
    for (gsize k = 0; k < n; k++) {
      const gint x = part->left + (gint) (k % width);
      const gint y = part->top + (gint) (k / width);

      pixels[i * n + k] = wanted->in_colour
          ? color_of (frame, &wanted->params.rgb, i, x, y)
          : cuv_frame_grey (frame, x, y);
    }
  }
  boxes = detect (&copy, wanted);
  for (guint i = 0; i < boxes->len; i++) {
    g_array_index (boxes, CuvWaldboostBox, i).x += part->left;
    g_array_index (boxes, CuvWaldboostBox, i).y += part->top;
  }
  return boxes;
}

GArray *
expect_in (GstSample *sample, const Wanted *wanted, const CuvRoi *region)
{
  GstCuvContext context;
  GstCuvFrame frame;
  GstVideoInfo info;
  Wanted with_matrix = *wanted;
  GArray *boxes;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  with_matrix.params.rgb = gst_cuv_frame_rgb_matrix (&info);
  gst_cuv_context_init (&context, NULL, NULL);
  fail_unless (gst_cuv_frame_map (
      &frame, &context, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
  boxes = region != NULL ? detect_in (&frame.frame, &with_matrix, region)
                         : detect (&frame.frame, &with_matrix);
  gst_cuv_frame_unmap (&frame);
  return boxes;
}

GArray *
expect (GstSample *sample, const Wanted *wanted)
{
  return expect_in (sample, wanted, NULL);
}

guint
n_objects (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (
      buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

/* Checks that the buffer's metas are the boxes, in order, with all documented
 * fields. */
void
check_objects (
    GstBuffer *buffer, GArray *boxes, const gchar *label, const gchar *what)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint i = 0;

  fail_unless (n_objects (buffer) == boxes->len, "%s: %u objects, not %u", what,
      n_objects (buffer), boxes->len);
  while ((roi = cuv_next_region (buffer, &state)) != NULL) {
    const CuvWaldboostBox *box = &g_array_index (boxes, CuvWaldboostBox, i);
    GstStructure *detection =
        gst_video_region_of_interest_meta_get_param (roi, "detection");
    gdouble confidence, score;
    gint rotation = 0; /* the value if the field is missing */

    gst_structure_get_int (detection, "rotation", &rotation);
    fail_unless_equals_int (rotation, box->rotation);
    fail_unless (roi->x == (guint) box->x && roi->y == (guint) box->y
            && roi->w == (guint) box->width && roi->h == (guint) box->height,
        "%s: box %u", what, i);
    assert_equals_string (g_quark_to_string (roi->roi_type), label);
    assert_equals_int (roi->id, (gint) i);
    fail_unless (gst_structure_get (detection, "confidence", G_TYPE_DOUBLE,
        &confidence, "score", G_TYPE_DOUBLE, &score, NULL));
    fail_unless (score == box->score);
    fail_unless (fabs (confidence - 1 / (1 + exp (-score))) < 1e-12);
    i++;
  }
}

void
check_frame (
    GstHarness *h, GstSample *sample, const Wanted *wanted, const gchar *what)
{
  g_autoptr (GArray) boxes = expect (sample, wanted);
  g_autoptr (GstBuffer) buffer = push (h, sample);
  g_autofree gchar *label = cuv_model_label (wanted->model);

  check_objects (buffer, boxes, label, what);
}
