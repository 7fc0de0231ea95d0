/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects of one of GStreamer's tensor decoders, which CUV_TEST_DECODER names,
 * get ids, are counted and published. The test attaches the tensors that a
 * network would write. */
#include "config.h"
#include "mtds.h"

#include <glib/gstdio.h>

#define CAPS "video/x-raw,format=RGB,width=320,height=240,framerate=10/1"

/* A person walks down across the line, and a car stands in the right half. */
#define ZONES                                                                  \
  "{\"zones\": [{\"name\": \"gate\", \"line\": [[0, 0.5], [1, 0.5]]}, "        \
  "{\"name\": \"right\", \"polygon\": "                                        \
  "[[0.5, 0], [1, 0], [1, 1], [0.5, 1]]}]}"
#define N_FRAMES 6
#define LABELS "person\nperson\ncar\ncar\n"
#define CROSSING 4 /* the frame in which the person is below the line */

typedef struct {
  guint x, y, w, h;
  gfloat confidence;
} Found;

/* Decoders count the lines of LABELS from 0 or from 1. */
static const guint classes[2] = { 1, 3 };

static void
find (guint frame, Found found[2])
{
  found[0] = (Found){ 40, 25 + 10 * frame, 40, 60, 0.875f };
  found[1] = (Found){ 200, 100, 80, 50, 0.75f };
}

/* What the decoder reads and has. */
static gboolean is_yolo, has_labels, has_tensor_caps;

/* ---- tensors ---- */

static GstTensor *
tensor_new (const gchar *id, GstTensorDimOrder order, const gfloat *values,
    gsize *dims, gsize n_dims)
{
  gsize size = sizeof *values;

  for (gsize i = 0; i < n_dims; i++)
    size *= dims[i];
  return gst_tensor_new_simple (g_quark_from_string (id),
      GST_TENSOR_DATA_TYPE_FLOAT32, gst_buffer_new_memdup (values, size), order,
      n_dims, dims);
}

/* The caps of an inference element (GStreamer 1.28); a dimension of 0 is known
 * with the frame only. */
#define TENSOR(id, dims, order)                                                \
  "(GstCaps)[tensor/strided,tensor-id=(string)" id ",dims=(int)" dims          \
  ",dims-order=(string)" order ",type=(string)float32]"
#define GROUP(id, tensors)                                                     \
  ",tensors=(structure)[tensorgroups," id "=(/uniquelist){" tensors "}]"

#define SSD "ssd-mobilenet-v1-variant-1-out"
#define SSD_COUNT "generic-variant-1-out-count"
#define SSD_CAPS                                                               \
  GROUP (SSD,                                                                  \
      TENSOR (SSD_COUNT, "<1>", "row-major") "," TENSOR (SSD "-scores",        \
          "<1,0>", "row-major") "," TENSOR (SSD "-boxes", "<1,0,4>",           \
          "row-major") "," TENSOR (SSD "-classes", "<1,0>", "row-major"))

/* Adds boxes as top, left, bottom and right, from 0 to 1, which the decoder
 * rounds down to pixels. */
static void
add_ssd (GstBuffer *buffer, const Found found[2])
{
  static const gchar *const old_ids[] = {
    "Gst.Model.ObjectDetector.NumDetections", "Gst.Model.ObjectDetector.Scores",
    "Gst.Model.ObjectDetector.Boxes", "Gst.Model.ObjectDetector.Classes"
  };
  static const gchar *const new_ids[] = { SSD_COUNT, SSD "-scores",
    SSD "-boxes", SSD "-classes" };
  const gchar *const *ids = has_tensor_caps ? new_ids : old_ids;
  gfloat count = 2, numbers[2], scores[2], boxes[8];
  GstTensor **tensors = g_new (GstTensor *, 4);
  gsize dims[] = { 1, 2, 4 };

  for (guint i = 0; i < 2; i++) {
    const Found *f = &found[i];

    numbers[i] = classes[i];
    scores[i] = f->confidence;
    boxes[4 * i] = (f->y + 0.5f) / HEIGHT;
    boxes[4 * i + 1] = (f->x + 0.5f) / WIDTH;
    boxes[4 * i + 2] = (f->y + f->h + 0.5f) / HEIGHT;
    boxes[4 * i + 3] = (f->x + f->w + 0.5f) / WIDTH;
  }
  tensors[0] =
      tensor_new (ids[0], GST_TENSOR_DIM_ORDER_ROW_MAJOR, &count, dims, 1);
  tensors[1] =
      tensor_new (ids[1], GST_TENSOR_DIM_ORDER_ROW_MAJOR, scores, dims, 2);
  tensors[2] =
      tensor_new (ids[2], GST_TENSOR_DIM_ORDER_ROW_MAJOR, boxes, dims, 3);
  tensors[3] =
      tensor_new (ids[3], GST_TENSOR_DIM_ORDER_ROW_MAJOR, numbers, dims, 2);
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), 4, tensors);
}

#define YOLO "yolo-v8-out"
#define YOLO_CAPS GROUP (YOLO, TENSOR (YOLO, "<1,8,2>", "col-major"))

/* Rows are x and y of the centre, width, height and the confidence of each
 * class. */
static void
add_yolo (GstBuffer *buffer, const Found found[2])
{
  GstTensor **tensors = g_new (GstTensor *, 1);
  gsize dims[] = { 1, 8, 2 };
  gfloat values[8][2] = { 0 };

  for (guint i = 0; i < 2; i++) {
    const Found *f = &found[i];

    values[0][i] = f->x + f->w / 2.0f;
    values[1][i] = f->y + f->h / 2.0f;
    values[2][i] = f->w;
    values[3][i] = f->h;
    values[4 + classes[i]][i] = f->confidence;
  }
  tensors[0] =
      tensor_new (YOLO, GST_TENSOR_DIM_ORDER_COL_MAJOR, values[0], dims, 3);
  gst_tensor_meta_set (gst_buffer_add_tensor_meta (buffer), 1, tensors);
}

/* ---- the pipeline ---- */

static void
look_at (GstElement *decoder)
{
  GstPad *pad = gst_element_get_static_pad (decoder, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps (pad);

  has_labels =
      g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "label-file")
      != NULL;
  has_tensor_caps = gst_caps_is_any (caps)
      || gst_structure_has_field (gst_caps_get_structure (caps, 0), "tensors");
  gst_caps_unref (caps);
  gst_object_unref (pad);
}

CUV_BEFORE_TESTS (prepare, tcase)
{
  const gchar *name = g_getenv ("CUV_TEST_DECODER");
  GstElement *decoder;

  skip_without (name);
  is_yolo = g_str_has_prefix (name, "yolo");
  decoder = gst_object_ref_sink (gst_element_factory_make (name, NULL));
  look_at (decoder);
  gst_object_unref (decoder);
}

static GstHarness *
decoder_line_new (void)
{
  g_autofree gchar *line = g_strdup_printf (
      "%s%s ! visiontrack ! visionzones hysteresis=1 ! visionpublish "
      "file-path=out",
      g_getenv ("CUV_TEST_DECODER"), has_labels ? " label-file=labels" : "");
  GstHarness *h = gst_harness_new_parse (line);
  g_autofree gchar *caps = g_strconcat (CAPS,
      !has_tensor_caps ? ""
          : is_yolo    ? YOLO_CAPS
                       : SSD_CAPS,
      NULL);

  line_set (h, "visionzones", "zones", ZONES);
  gst_harness_set_src_caps_str (h, caps);
  return h;
}

static void
check_found (GstBuffer *buffer, const Found expected[2])
{
  static const gchar *const labels[] = { "person", "car" };
  g_autoptr (GArray) objects = objects_of (buffer);

  ck_assert_uint_eq (objects->len, 2);
  for (guint i = 0; i < 2; i++) {
    const GstCuvObject object = nth_object (objects, i);
    const Found *e = &expected[i];

    fail_unless (object.x == e->x && object.y == e->y && object.w == e->w
        && object.h == e->h && object.confidence == e->confidence);
    ck_assert_int_eq (object.track, i + 1);
    if (has_labels)
      fail_unless_equals_string (g_quark_to_string (object.label), labels[i]);
  }
}

CUV_TEST (test_decoder)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) records = NULL;
  Found found[2];
  GstHarness *h;

  cuv_folder_enter ();
  fail_unless (g_file_set_contents ("labels", LABELS, -1, NULL));
  h = decoder_line_new ();
  for (guint i = 0; i < N_FRAMES; i++) {
    GstBuffer *buffer =
        gst_buffer_new_allocate (NULL, 3 * WIDTH * HEIGHT, NULL);

    find (i, found);
    (is_yolo ? add_yolo : add_ssd) (buffer, found);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND / 10;
    buffer = push (h, buffer);
    check_found (buffer, found);
    gst_buffer_unref (buffer);
  }
  text = line_end (h);
  fail_unless (g_remove ("labels") == 0);
  cuv_folder_leave ();
  records = g_strsplit (text, "\n", -1);
  expect_part (records[0], "\"id\":1,\"region_id\":0,");
  expect_part (records[0], "\"id\":2,\"region_id\":1,");
  expect_part (records[0], "\"event\":\"enter\",\"id\":2,");
  expect_part (records[CROSSING],
      "\"direction\":\"out\",\"dwell\":0,\"event\":\"cross\",\"id\":1,");
  expect_part (records[N_FRAMES - 1],
      "{\"in\":0,\"inside\":0,\"out\":1,\"type\":\"line\",\"zone\":\"gate\"},"
      "{\"in\":1,\"inside\":1,\"out\":0,\"type\":\"polygon\",\"zone\":"
      "\"right\"}");
  if (has_labels)
    expect_part (records[N_FRAMES - 1],
        "{\"in\":0,\"label\":\"person\",\"out\":1,\"zone\":\"gate\"},"
        "{\"in\":1,\"label\":\"car\",\"out\":0,\"zone\":\"right\"}");
}
