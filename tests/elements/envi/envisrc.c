/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* envisrc: files, sequences, timestamps, seeks. */
#include "cubes.h"

#include <unistd.h>

/* ---- one cube ---- */

CUV_TEST (plain_samples_are_mapped)
{
  guint8 expected[N_SAMPLES];
  g_autoptr (GstSample) sample = NULL;
  GstBuffer *buffer;
  GstCaps *caps;
  Player player;

  write_text ("cube.hdr",
      U8 "header offset = 7\n"
         "bbl = {1, 0, 1}\ndata ignore value = 3\n"
         "wavelength units = nm\n"
         "wavelength = {400, 500, 600}\n");
  write_counting ("cube", 100, 7 + N_SAMPLES);
  player = player_new ("envisrc location=cube.hdr framerate=10/1" APPSINK);
  sample = player_pull (&player);
  buffer = gst_sample_get_buffer (sample);
  caps = gst_caps_from_string (
      "video/x-spectral,format=U8,width=5,height=4,bands=3,interleave=bil,"
      "framerate=10/1,wavelengths=(double)<400,500,600>,bad-bands=<1>,"
      "ignore-value=(double)3");
  fail_unless (gst_caps_is_equal (gst_sample_get_caps (sample), caps));
  for (guint i = 0; i < N_SAMPLES; i++)
    expected[i] = (guint8) (107 + i);
  gst_check_buffer_data (buffer, expected, N_SAMPLES);
  fail_unless (GST_MEMORY_IS_READONLY (gst_buffer_peek_memory (buffer, 0)));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 0);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), GST_SECOND / 10);
  expect_end (&player);
  gst_caps_unref (caps);
  /* the memory stays valid after the element is freed */
  player_free (&player);
  gst_check_buffer_data (buffer, expected, N_SAMPLES);
}

CUV_TEST (other_samples_are_converted)
{
  static const guint8 big[2 * N_SAMPLES] = { 1, 2, 255, 254 };
  GstElement *in;
  GstSample *sample;
  GstMapInfo map;
  Player player;

  write_text ("cube.hdr",
      "ENVI\nsamples=5\nlines=4\nbands=3\ninterleave=bsq\n"
      "byte order = 1\ndata type = 2\n");
  write_file ("cube.dat", big, sizeof big);
  player = player_new ("envisrc name=in location=cube.dat" APPSINK);
  sample = player_pull (&player);
  fail_unless (
      gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 4 * N_SAMPLES);
  fail_unless (((const gfloat *) map.data)[0] == 258);
  fail_unless (((const gfloat *) map.data)[1] == -2);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  expect_end (&player);
  in = gst_bin_get_by_name (GST_BIN (player.pipeline), "in");
  fail_unless_equals_uint64 (cuv_stat (in, "bytes"), 4 * N_SAMPLES);
  gst_object_unref (in);
  player_free (&player);
}

/* Headers and data files are found by the names in common use. */
CUV_TEST (other_file_is_found)
{
  static const struct {
    const gchar *header, *data;
  } pairs[] = { { "a.hdr", "a" }, { "a.hdr", "a.img" }, { "a.hdr", "a.dat" },
    { "a.HDR", "a.RAW" }, { "a.img.hdr", "a.img" }, { "a.b.hdr", "a.b.bil" },
    { "a.x.HDR", "a.x" }, { "a.hdr", "a.hyspex" }, { "a.hdr", "a.pix" },
    { "a.HDR", "a.L1R" }, { "50%dark.hdr", "50%dark.img" } };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    const gchar *both[2] = { pairs[i].header, pairs[i].data };

    write_text (both[0], U8);
    write_counting (both[1], i, N_SAMPLES);
    for (guint k = 0; k < 2; k++) {
      gchar *line =
          g_strdup_printf ("envisrc location=\"%s\"" APPSINK, both[k]);
      Player player = player_new (line);

      fail_unless_equals_int (first_byte (player_pull (&player)), i);
      player_free (&player);
      g_free (line);
    }
    unlink (both[0]);
    unlink (both[1]);
  }
}

/* Proposes a pool of buffers of this size. */
static GstPadProbeReturn
propose_pool (GstPad *pad, GstPadProbeInfo *info, gpointer size)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    GstBufferPool *pool = gst_buffer_pool_new ();
    GstStructure *config = gst_buffer_pool_get_config (pool);
    GstCaps *caps;

    gst_query_parse_allocation (query, &caps, NULL);
    gst_buffer_pool_config_set_params (
        config, caps, GPOINTER_TO_UINT (size), 2, 0);
    fail_unless (gst_buffer_pool_set_config (pool, config));
    gst_query_add_allocation_pool (query, pool, GPOINTER_TO_UINT (size), 2, 0);
    gst_object_unref (pool);
    return GST_PAD_PROBE_HANDLED;
  }
  return GST_PAD_PROBE_OK;
}

/* Returns the first cube when a pool of buffers of this size is proposed. */
static GstSample *
sample_with_pool (guint pool_size)
{
  GstElement *pipeline =
      cuv_pipeline_new ("envisrc name=in location=cube.hdr" APPSINK);
  GstElement *in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstPad *pad = gst_element_get_static_pad (in, "src");
  Player player = { pipeline, gst_bin_get_by_name (GST_BIN (pipeline), "out") };
  GstSample *sample;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, propose_pool,
      GUINT_TO_POINTER (pool_size), NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = player_pull (&player);
  gst_object_unref (pad);
  gst_object_unref (in);
  player_free (&player);
  return sample;
}

static gboolean
is_from_pool (guint pool_size)
{
  GstSample *sample = sample_with_pool (pool_size);
  gboolean from_pool = gst_sample_get_buffer (sample)->pool != NULL;

  fail_unless_equals_uint64 (
      gst_buffer_get_size (gst_sample_get_buffer (sample)), N_SAMPLES);
  fail_unless_equals_int (first_byte (sample), 9);
  return from_pool;
}

CUV_TEST (large_enough_pool_is_used)
{
  write_cube ("cube", 9);
  fail_unless (is_from_pool (N_SAMPLES));
  fail_unless (is_from_pool (N_SAMPLES + 100));
  fail_if (is_from_pool (N_SAMPLES - 1));
}

/* The cube is read in several chunks. */
CUV_TEST (large_cube_is_read_into_a_pool)
{
  enum { SIZE = 3000 * 1100 * 3, OFFSET = 7 };
  g_autofree guint8 *bytes = g_malloc (OFFSET + SIZE);
  g_autoptr (GstSample) sample = NULL;

  for (guint i = 0; i < OFFSET + SIZE; i++)
    bytes[i] = (guint8) (i * 2654435761u >> 24);
  write_file ("cube", bytes, OFFSET + SIZE);
  write_text ("cube.hdr",
      "ENVI\nsamples = 3000\nlines = 1100\nbands = 3\n"
      "interleave = bil\ndata type = 1\nheader offset = 7\n");
  sample = sample_with_pool (SIZE);
  fail_unless (gst_sample_get_buffer (sample)->pool != NULL);
  gst_check_buffer_data (gst_sample_get_buffer (sample), bytes + OFFSET, SIZE);
}

/* ---- sequences ---- */

static void
write_sequence (void)
{
  for (guint i = 0; i < 5; i++) {
    gchar *name = g_strdup_printf ("s%03u", 2 + i);

    write_cube (name, 10 * i);
    g_free (name);
  }
}

CUV_TEST (plays_a_sequence)
{
  Player player;

  write_sequence ();
  player = player_new (
      "envisrc location=s%03d.hdr start-index=2 framerate=30/1" APPSINK);
  for (guint i = 0; i < 5; i++) {
    GstSample *sample = player_pull (&player);

    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (gst_sample_get_buffer (sample)), i * GST_SECOND / 30);
    fail_unless_equals_int (first_byte (sample), 10 * i);
  }
  expect_end (&player);
  player_free (&player);
}

/* %% is a %. */
CUV_TEST (sequence_with_a_percent_sign)
{
  Player player;

  write_cube ("50%d0", 1);
  write_cube ("50%d1", 2);
  player = player_new ("envisrc location=50%%d%d.hdr" APPSINK);
  fail_unless_equals_int (first_byte (player_pull (&player)), 1);
  fail_unless_equals_int (first_byte (player_pull (&player)), 2);
  expect_end (&player);
  player_free (&player);
}

CUV_TEST (loops)
{
  Player player;

  write_sequence ();
  player = player_new ("envisrc location=s%03d.img start-index=5 loop=true "
                       "framerate=30/1 num-buffers=7" APPSINK);
  for (guint i = 0; i < 7; i++) {
    GstSample *sample = player_pull (&player);

    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (gst_sample_get_buffer (sample)), i * GST_SECOND / 30);
    fail_unless_equals_int (first_byte (sample), 30 + 10 * (i % 2));
  }
  expect_end (&player);
  player_free (&player);
}

/* At 30 cubes per second only every third time is a whole number of ns. */
CUV_TEST (seeks)
{
  GstClockTime start[5];
  Player player;
  gint64 duration;

  write_sequence ();
  player = player_new (
      "envisrc location=s%03d.hdr start-index=2 framerate=30/1" APPSINK);
  for (guint i = 0; i < 5; i++) {
    GstSample *sample = player_pull (&player);

    start[i] = GST_BUFFER_PTS (gst_sample_get_buffer (sample));
    gst_sample_unref (sample);
  }
  fail_unless (
      gst_element_query_duration (player.pipeline, GST_FORMAT_TIME, &duration));
  fail_unless_equals_int64 (duration, 5 * GST_SECOND / 30);
  for (guint i = 0; i < 5; i++) {
    for (guint later = 0; later < 2; later++) {
      fail_unless (gst_element_seek_simple (player.pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
          (gint64) (start[i] + later * GST_SECOND / 40)));
      fail_unless_equals_int (first_byte (player_pull (&player)), 10 * i);
    }
  }
  fail_unless (gst_element_seek (player.pipeline, 1, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, (gint64) start[1],
      GST_SEEK_TYPE_SET, (gint64) start[3]));
  fail_unless_equals_int (first_byte (player_pull (&player)), 10);
  fail_unless_equals_int (first_byte (player_pull (&player)), 20);
  expect_end (&player);
  /* a backward seek is rejected and has no effect */
  fail_unless (gst_element_seek_simple (
      player.pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  fail_unless_equals_int (first_byte (player_pull (&player)), 0);
  fail_if (gst_element_seek (player.pipeline, -1, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_END, 0));
  fail_unless_equals_int (first_byte (player_pull (&player)), 10);
  player_free (&player);
}

/* Sinks would drop earlier cubes; the harness shows that none is sent. */
CUV_TEST (seek_sends_no_earlier_cube)
{
  write_sequence ();
  for (guint i = 0; i < 5; i++) {
    GstElement *element = gst_element_factory_make ("envisrc", NULL);
    GstHarness *h;
    GstBuffer *buffer;

    gst_util_set_object_arg (G_OBJECT (element), "framerate", "30/1");
    g_object_set (element, "location", "s%03d.hdr", "start-index", 2, NULL);
    fail_unless (gst_element_send_event (element,
        gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
            GST_SEEK_TYPE_SET, (gint64) (i * GST_SECOND / 30),
            GST_SEEK_TYPE_NONE, -1)));
    h = gst_harness_new_with_element (element, NULL, "src");
    gst_harness_play (h);
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND / 30);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
    gst_object_unref (element);
  }
}

CUV_TEST (caps_change_between_cubes)
{
  GstSample *sample;
  Player player;

  write_cube ("c0", 1);
  write_text ("c1.hdr", U16);
  write_counting ("c1.img", 50, 2 * N_SAMPLES);
  write_cube ("c2", 3);
  player = player_new ("envisrc location=c%d.hdr" APPSINK);
  fail_unless_equals_int (first_byte (player_pull (&player)), 1);
  sample = player_pull (&player);
  fail_unless_equals_string (
      gst_structure_get_string (
          gst_caps_get_structure (gst_sample_get_caps (sample), 0), "format"),
      "U16LE");
  fail_unless_equals_uint64 (
      gst_buffer_get_size (gst_sample_get_buffer (sample)), 2 * N_SAMPLES);
  fail_unless_equals_int (first_byte (sample), 50);
  fail_unless_equals_int (first_byte (player_pull (&player)), 3);
  expect_end (&player);
  player_free (&player);
}

CUV_TEST (restarts)
{
  GstElement *pipeline;

  write_sequence ();
  pipeline =
      cuv_pipeline_new ("envisrc location=s%03d.hdr start-index=2 ! fakesink");
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  gst_object_unref (pipeline);
}

CUV_FIXTURE (cuv_folder_enter, cuv_folder_leave)
