/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What teaching consists of: examples, the ring of frames, pictures that are
 * cut out, and COCO. teach.py tests the whole. */
#include <string.h>
#include <turbojpeg.h>

#include "cuvelements.h"
#include "cuvjsonreader.h"
#include "teach/coco.h"
#include "teach/cut.h"
#include "teach/ring.h"

#define WIDTH 100
#define HEIGHT 75

/* ---- examples ---- */

static gchar *
parse (CuvTeachExample *example, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  g_autoptr (JsonNode) node = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  node = cuv_json_parse_object (text, 1000, NULL);
  fail_unless (node != NULL, "'%s' is not JSON", text);
  return cuv_teach_example_parse (example, node);
}

static gchar *
parse_boxes (CuvTeachExample *example, const gchar *boxes)
{
  return parse (example, "{\"frame\":1,\"label\":\"a\",\"boxes\":%s}", boxes);
}

static void
expect_box (
    const CuvTeachBox *box, gdouble x, gdouble y, gdouble width, gdouble height)
{
  fail_unless (box->x == x && box->y == y && box->width == width
          && box->height == height,
      "%g %g %g %g", box->x, box->y, box->width, box->height);
}

CUV_TEST (labels)
{
  static const gchar *const good[] = { "a", "Cup_2-b",
    "0123456789012345678901234567890123456789" };
  static const gchar *const bad[] = { "", ".", "..", "a b", "a/b", "\xc3\xa4",
    "01234567890123456789012345678901234567890", "a\n", "a.xml" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    fail_unless (cuv_teach_is_label (good[i]), "%s", good[i]);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    fail_unless (!cuv_teach_is_label (bad[i]), "%s", bad[i]);
}

CUV_TEST (examples_that_are_refused)
{
  static const gchar *const bad[] = { "{}", "5", "[[1,2,3]]", "[[1,2,3,4,5]]",
    "[[1,2,3,\"4\"]]", "[[1,2,3,true]]", "[[1,2,0,4]]", "[[1,2,3,-4]]",
    "[[1e300,2,3,4]]", "[[1,2,3,1000001]]", "[[1,2,[3],4]]", "[null]" };
  CuvTeachExample example;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *problem = parse_boxes (&example, bad[i]);

    fail_unless (problem != NULL && strstr (problem, "boxes"), "%s", bad[i]);
  }
}

CUV_TEST (members_of_examples)
{
  static const gchar *const bad[][2] = {
    { "{\"label\":\"a\",\"boxes\":[]}", "must have" },
    { "{\"frame\":1,\"label\":\"a\",\"boxes\":[],\"x\":1}", "must have" },
    { "{\"frame\":-1,\"label\":\"a\",\"boxes\":[]}", "frame" },
    { "{\"frame\":1.5,\"label\":\"a\",\"boxes\":[]}", "frame" },
    { "{\"frame\":1,\"label\":\"../a\",\"boxes\":[]}", "label" },
    { "{\"frame\":1,\"label\":5,\"boxes\":[]}", "label" },
    { "{\"frame\":1,\"label\":\"a\",\"boxes\":[],\"part\":[1,2]}", "part" },
  };
  CuvTeachExample example;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree gchar *problem = parse (&example, "%s", bad[i][0]);

    fail_unless (
        problem != NULL && strstr (problem, bad[i][1]), "%s", bad[i][0]);
  }
}

CUV_TEST (boxes_are_clipped)
{
  CuvTeachExample example;
  g_autofree gchar *problem = NULL;

  fail_unless (parse (&example,
                   "{\"frame\":1,\"label\":\"a\",\"boxes\":[[-5,-5,10.5,20],"
                   "[90,70,50,50]],\"part\":[0,0,200,72]}")
      == NULL);
  fail_unless (cuv_teach_example_clip (&example, WIDTH, HEIGHT) == NULL);
  expect_box (&example.part, 0, 0, WIDTH, 72);
  expect_box (&example.boxes[0], 0, 0, 5.5, 15);
  expect_box (&example.boxes[1], 90, 70, 10, 2);
  fail_unless (parse_boxes (&example, "[[98.5,0,9,9]]") == NULL);
  problem = cuv_teach_example_clip (&example, WIDTH, HEIGHT);
  fail_unless (problem != NULL && strstr (problem, "box 1"), "%s", problem);
}

/* ---- frames ---- */

/* A JPEG of noise in which every pixel is different enough to see a shift. */
static guint8 *
make_jpeg (gulong *size)
{
  guint8 pixels[WIDTH * HEIGHT * 3], *jpeg = NULL;
  tjhandle handle = tjInitCompress ();

  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) (i * 2654435761U >> 13);
  fail_unless (tjCompress2 (handle, pixels, WIDTH, 0, HEIGHT, TJPF_RGB, &jpeg,
                   size, TJSAMP_420, 90, 0)
      == 0);
  tjDestroy (handle);
  return jpeg;
}

static CuvWebFrame *
make_frame (gsize size)
{
  g_autofree gchar *data = g_malloc0 (size);

  return cuv_web_frame_new (1, "{}", 2, data, size);
}

static void
add_frame (CuvRing *ring, gint64 number, gsize size)
{
  CuvWebFrame *frame = make_frame (size);

  cuv_ring_add (ring, &(CuvRingFrame){ number, 1, 1, frame, 0 });
  cuv_web_frame_unref (frame);
}

static gboolean
has_frame (CuvRing *ring, gint64 number)
{
  CuvRingFrame found;

  if (!cuv_ring_find (ring, number, &found))
    return FALSE;
  cuv_web_frame_unref (found.frame);
  return TRUE;
}

CUV_TEST (ring_has_the_newest_frames)
{
  CuvRing ring;

  cuv_ring_init (&ring);
  for (gint i = 0; i < 100; i++)
    add_frame (&ring, i, 10);
  fail_unless (has_frame (&ring, 99) && has_frame (&ring, 36));
  fail_unless (!has_frame (&ring, 35) && !has_frame (&ring, 100));
  for (gint i = 100; i < 104; i++)
    add_frame (&ring, i, 10 << 20);
  fail_unless (has_frame (&ring, 103) && has_frame (&ring, 101));
  fail_unless (!has_frame (&ring, 100) && !has_frame (&ring, 99));
  cuv_ring_empty (&ring);
  fail_unless (!has_frame (&ring, 103));
  cuv_ring_clear (&ring);
}

CUV_TEST (frames_are_held)
{
  CuvRing ring;

  cuv_ring_init (&ring);
  add_frame (&ring, 0, 10);
  fail_unless (!cuv_ring_hold (&ring, 1, 1));
  fail_unless (cuv_ring_hold (&ring, 0, 1));
  for (gint i = 1; i < 80; i++)
    add_frame (&ring, i, 10);
  fail_unless (has_frame (&ring, 0) && !has_frame (&ring, 1));
  fail_unless (cuv_ring_hold (&ring, 0, 1)); /* the same again */
  for (guint64 client = 2; client < 9; client++)
    fail_unless (cuv_ring_hold (&ring, 79, client));
  fail_unless (has_frame (&ring, 0));
  fail_unless (cuv_ring_hold (&ring, 79, 9)); /* the ninth */
  fail_unless (!has_frame (&ring, 0));
  cuv_ring_clear (&ring);
}

/* ---- cutting ---- */

static guint8 *
decode (const guint8 *jpeg, gulong size, gint *width, gint *height)
{
  tjhandle handle = tjInitDecompress ();
  gint sampling, colours;
  guint8 *pixels;

  fail_unless (tjDecompressHeader3 (
                   handle, jpeg, size, width, height, &sampling, &colours)
      == 0);
  pixels = g_malloc ((gsize) (*width * *height));
  fail_unless (tjDecompress2 (
                   handle, jpeg, size, pixels, *width, 0, *height, TJPF_GRAY, 0)
      == 0);
  tjDestroy (handle);
  return pixels;
}

/* The grey of a cut is that of the picture, bit for bit. */
static void
check_cut (const guint8 *jpeg, gulong size, const CuvTeachPlace *place)
{
  gulong cut_size;
  gchar *problem;
  gint width, height, cut_width, cut_height;
  guint8 *cut = cuv_teach_cut (place, jpeg, size, &cut_size, &problem);
  g_autofree guint8 *all = decode (jpeg, size, &width, &height);
  g_autofree guint8 *part = NULL;

  fail_unless (problem == NULL, "%s", problem);
  part = decode (cut, cut_size, &cut_width, &cut_height);
  fail_unless_equals_int (cut_width, place->width);
  fail_unless_equals_int (cut_height, place->height);
  for (gint y = 0; y < cut_height; y++)
    fail_unless (memcmp (part + y * cut_width,
                     all + (place->y + y) * width + place->x, (gsize) cut_width)
        == 0);
  tjFree (cut);
}

CUV_TEST (cuts_are_lossless)
{
  static const CuvTeachBox parts[] = { { 0, 0, 200, 150 }, { 35, 40, 30, 30 },
    { 180, 130, 20, 20 }, { 199, 149, 1, 1 }, { 64, 64, 32, 32 } };
  gulong size = 0;
  guint8 *jpeg = make_jpeg (&size);

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    CuvTeachPlace place;
    CuvTeachBox placed;

    /* the frame is twice as large as the picture */
    fail_unless (
        cuv_teach_place (&place, jpeg, size, 2 * WIDTH, 2 * HEIGHT, &parts[i])
        == NULL);
    fail_unless (place.x % 16 == 0 && place.y % 16 == 0);
    fail_unless (2 * place.x <= parts[i].x && 2 * place.y <= parts[i].y);
    check_cut (jpeg, size, &place);
    placed = cuv_teach_place_box (&place, &parts[i]);
    expect_box (&placed, parts[i].x / 2 - place.x, parts[i].y / 2 - place.y,
        parts[i].width / 2, parts[i].height / 2);
  }
  tjFree (jpeg);
}

CUV_TEST (pictures_that_are_not_jpeg)
{
  const CuvTeachBox whole = { 0 };
  CuvTeachPlace place;
  g_autofree gchar *problem = cuv_teach_place (&place, "x", 1, 9, 9, &whole);

  fail_unless (problem != NULL);
}

/* ---- COCO ---- */

CUV_TEST (texts_that_are_not_coco)
{
  static const gchar *const bad[] = { "", "[]", "{}", "{\"images\":[]}",
    "{\"images\":[],\"annotations\":[],\"categories\":{}}",
    "{\"images\":[{}],\"annotations\":[],\"categories\":[]}",
    "{\"images\":[5],\"annotations\":[],\"categories\":[]}",
    "{\"images\":[{\"id\":\"1\",\"file_name\":\"a\"}],\"annotations\":[],"
    "\"categories\":[]}",
    "{\"images\":[{\"id\":99999999999,\"file_name\":\"a\"}],\"annotations\":[],"
    "\"categories\":[]}",
    "{\"images\":[],\"annotations\":[{\"image_id\":1,\"category_id\":1,"
    "\"bbox\":[1,2,3]}],\"categories\":[]}",
    "{\"images\":[],\"annotations\":[],\"categories\":[{\"id\":1}]}" };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    CuvCoco coco;
    g_autofree gchar *problem = cuv_coco_parse (&coco, bad[i]);

    fail_unless (problem != NULL, "%s", bad[i]);
    cuv_coco_clear (&coco);
  }
}

/* Members of others stay; ids do not repeat. */
CUV_TEST (coco_of_others)
{
  static const gchar text[] =
      "{\"info\":{\"year\":2020},\"images\":[{\"id\":7,\"file_name\":\"a.png\","
      "\"license\":3}],\"annotations\":[{\"id\":9,\"image_id\":7,"
      "\"category_id\":2,\"bbox\":[1,2,3,4.5],\"segmentation\":[[1,2]]}],"
      "\"categories\":[{\"id\":2,\"name\":\"cup\"},{\"id\":5,\"name\":\"a "
      "b\"}]}";
  const CuvTeachBox box = { 1, 2, 3.25, 4 };
  CuvCoco coco;
  g_autofree gchar *written = NULL;
  g_autoptr (GArray) counts = NULL;
  const CuvTeachCount *count;
  guint without;

  fail_unless (cuv_coco_parse (&coco, text) == NULL);
  fail_unless_equals_int64 (cuv_coco_add_image (&coco, "b.jpg", 10, 20), 8);
  fail_unless_equals_int64 (cuv_coco_add_image (&coco, "c.jpg", 10, 20), 9);
  cuv_coco_add_box (&coco, 8, "cup", &box);
  cuv_coco_add_box (&coco, 8, "cup", &box);
  counts = cuv_coco_count (&coco, &without);
  count = &g_array_index (counts, CuvTeachCount, 0);
  fail_unless (counts->len == 1 && without == 1);
  fail_unless (count->pictures == 2 && count->boxes == 3);
  cuv_coco_remove_boxes (&coco, 8);
  cuv_coco_add_box (&coco, 8, "plate", &box);
  cuv_coco_remove_image (&coco, 9);
  written = cuv_coco_write (&coco);
  fail_unless_equals_string (written,
      "{\"info\":{\"year\":2020},\"images\":[{\"id\":7,\"file_name\":\"a.png\","
      "\"license\":3},{\"id\":8,\"file_name\":\"b.jpg\",\"width\":10,"
      "\"height\":20}],\"annotations\":[{\"id\":9,\"image_id\":7,"
      "\"category_id\":2,\"bbox\":[1,2,3,4.5],\"segmentation\":[[1,2]]},"
      "{\"id\":12,\"image_id\":8,\"category_id\":6,\"bbox\":[1,2,3.25,4],"
      "\"area\":13.0,\"iscrowd\":0}],\"categories\":[{\"id\":2,\"name\":"
      "\"cup\"},"
      "{\"id\":5,\"name\":\"a b\"},{\"id\":6,\"name\":\"plate\"}]}");
  cuv_coco_clear (&coco);
}
