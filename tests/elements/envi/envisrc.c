/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* envisrc: files, sequences, timestamps, seeks, errors. */
#include "cubes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPSINK " ! appsink name=out sync=false"
#define GIB ((gint64) 1 << 30)

/* Returns the first byte and unrefs the sample. */
static guint
first_byte (GstSample *sample)
{
  guint8 byte;

  fail_unless (sample != NULL);
  gst_buffer_extract (gst_sample_get_buffer (sample), 0, &byte, 1);
  gst_sample_unref (sample);
  return byte;
}

static void
expect_end (Player *player)
{
  fail_unless (player_pull (player) == NULL);
}

/* ---- one cube ---- */

GST_START_TEST (plain_samples_are_mapped)
{
  guint8 expected[N_SAMPLES];
  GstSample *sample;
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
  /* still there when the element is gone */
  player_free (&player);
  gst_check_buffer_data (buffer, expected, N_SAMPLES);
  gst_sample_unref (sample);
}

GST_END_TEST
GST_START_TEST (other_samples_are_converted)
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

GST_END_TEST
/* The names of header and data in common use. */
GST_START_TEST (other_file_is_found)
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

GST_END_TEST
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

/* The first cube if a pool of buffers of this size is proposed. */
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

GST_START_TEST (large_enough_pool_is_used)
{
  write_cube ("cube", 9);
  fail_unless (is_from_pool (N_SAMPLES));
  fail_unless (is_from_pool (N_SAMPLES + 100));
  fail_if (is_from_pool (N_SAMPLES - 1));
}

GST_END_TEST
/* The cube is read in several chunks. */
GST_START_TEST (large_cube_is_read_into_a_pool)
{
  enum { SIZE = 3000 * 1100 * 3, OFFSET = 7 };
  guint8 *bytes = g_malloc (OFFSET + SIZE);
  GstSample *sample;

  for (guint i = 0; i < OFFSET + SIZE; i++)
    bytes[i] = (guint8) (i * 2654435761u >> 24);
  write_file ("cube", bytes, OFFSET + SIZE);
  write_text ("cube.hdr",
      "ENVI\nsamples = 3000\nlines = 1100\nbands = 3\n"
      "interleave = bil\ndata type = 1\nheader offset = 7\n");
  sample = sample_with_pool (SIZE);
  fail_unless (gst_sample_get_buffer (sample)->pool != NULL);
  gst_check_buffer_data (gst_sample_get_buffer (sample), bytes + OFFSET, SIZE);
  gst_sample_unref (sample);
  g_free (bytes);
}

GST_END_TEST
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

GST_START_TEST (plays_a_sequence)
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

GST_END_TEST
/* %% is a %. */
GST_START_TEST (sequence_with_a_percent_sign)
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

GST_END_TEST
GST_START_TEST (loops)
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

GST_END_TEST
/* At 30 cubes per second only every third time is a whole number of ns. */
GST_START_TEST (seeks)
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

GST_END_TEST
/* Sinks would drop earlier cubes; the harness shows that none is sent. */
GST_START_TEST (seek_sends_no_earlier_cube)
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

GST_END_TEST
GST_START_TEST (caps_change_between_cubes)
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

GST_END_TEST
GST_START_TEST (restarts)
{
  GstElement *pipeline;

  write_sequence ();
  pipeline =
      cuv_pipeline_new ("envisrc location=s%03d.hdr start-index=2 ! fakesink");
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_string (cuv_pipeline_play (pipeline), NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST
/* ---- large files, sparse on the disk ---- */

static void
write_sparse (const gchar *name, gint64 size, const gchar *end)
{
  int fd = open (name, O_WRONLY | O_CREAT, 0600);

  fail_unless (fd >= 0 && ftruncate (fd, size) == 0);
  fail_unless (pwrite (fd, end, strlen (end), size - (gint64) strlen (end))
      == (gssize) strlen (end));
  close (fd);
}

GST_START_TEST (header_offset_of_five_gib)
{
  Player player;

  write_text ("cube.hdr", U8 "header offset = 5368709120\n");
  write_sparse ("cube.img", 5 * GIB + N_SAMPLES,
      "x...........................................................");
  player = player_new ("envisrc location=cube.hdr" APPSINK);
  fail_unless_equals_int (first_byte (player_pull (&player)), 'x');
  player_free (&player);
}

GST_END_TEST
GST_START_TEST (cube_of_five_gib)
{
  GstSample *sample;
  GstMapInfo map;
  Player player;

  write_text ("cube.hdr",
      "ENVI\nsamples=16384\nlines=16384\nbands=20\n"
      "interleave=bsq\ndata type=1\n");
  write_sparse ("cube.img", 5 * GIB, "end");
  player = player_new ("envisrc location=cube.hdr" APPSINK);
  sample = player_pull (&player);
  fail_unless (
      gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  fail_unless (map.size == (gsize) (5 * GIB));
  fail_unless (memcmp (map.data + map.size - 4, "\0end", 4) == 0);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  player_free (&player);
}

GST_END_TEST
/* max-bytes is checked before memory is allocated. */
GST_START_TEST (max_bytes_limits_memory)
{
  write_text ("huge.hdr",
      "ENVI\nsamples=16384\nlines=16384\nbands=20\ninterleave=bsq\n"
      "data type=2\nbyte order=0\n");
  write_sparse ("huge.img", 10 * GIB, "end");
  cuv_expect_error ("envisrc location=huge.hdr ! fakesink",
      "needs 21474836480 bytes of memory as F32LE, but max-bytes is "
      "17179869184: raise max-bytes");
  write_cube ("small", 1);
  cuv_expect_error ("envisrc location=small.hdr max-bytes=59 ! fakesink",
      "needs 60 bytes of memory as U8");
  cuv_play ("envisrc location=small.hdr max-bytes=60 ! fakesink");
}

GST_END_TEST
/* ---- errors ---- */

GST_START_TEST (errors_name_file_and_cause)
{
  write_text ("short.hdr", U8 "header offset = 10\n");
  write_counting ("short.img", 0, 69);
  write_text ("bad.hdr", "ENVI\nsamples = 5\nlines = -4\n");
  write_text ("bad", "");
  write_text ("empty.hdr", "");
  write_text ("empty", "");
  write_text ("alone.hdr", U8);
  write_text ("alone.tif", "");
  fail_unless (mkfifo ("fifo.img", 0600) == 0);
  write_text ("fifo.hdr", U8);
  cuv_expect_error ("envisrc ! fakesink", "location is not set");
  cuv_expect_error (
      "envisrc location=none.hdr ! fakesink", "No such file: 'none.hdr'");
  cuv_expect_error ("envisrc location=. ! fakesink", "No such file: '.'");
  cuv_expect_error ("envisrc location=n%d.hdr ! fakesink", "start-index");
  cuv_expect_error (
      "envisrc location=n%d-%d.hdr ! fakesink", "more than one placeholder");
  cuv_expect_error (
      "envisrc location=alone.hdr ! fakesink", "No data file for");
  cuv_expect_error ("envisrc location=alone.tif ! fakesink",
      "Correct the header or copy the file again");
  cuv_expect_error ("envisrc location=bad ! fakesink",
      "'bad.hdr' cannot be used: line 3: lines is '-4'");
  cuv_expect_error ("envisrc location=empty.hdr ! fakesink", "line 1");
  cuv_expect_error ("envisrc location=fifo.hdr ! fakesink", "No data file for");
  cuv_expect_error ("envisrc location=fifo.img ! fakesink", "No such file");
  cuv_expect_error ("envisrc location=short.hdr ! fakesink",
      "'short.img' is too short: it has 69 bytes, and 5 samples * 4 lines * 3 "
      "bands of 1 bytes after an offset of 10 are 70");
}

GST_END_TEST
/* The number of warnings that contain the part, until EOS. */
static guint
count_warnings (const gchar *line, const gchar *part)
{
  GstElement *pipeline = cuv_pipeline_new (line);
  GstBus *bus = gst_element_get_bus (pipeline);
  guint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gboolean ended = FALSE; !ended;) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    GError *warning;

    fail_unless (
        message != NULL && GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (!ended) {
      gst_message_parse_warning (message, &warning, NULL);
      n += strstr (warning->message, part) != NULL;
      g_error_free (warning);
    }
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return n;
}

GST_START_TEST (larger_file_is_warned_about_once)
{
  write_cube ("c0", 1);
  write_text ("c1.hdr", U8);
  write_counting ("c1.img", 0, N_SAMPLES + 7);
  write_text ("c2.hdr", U8);
  write_counting ("c2.img", 0, N_SAMPLES + 1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c0.hdr ! fakesink", ""), 0);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c%d.hdr loop=true num-buffers=9 "
                      "! fakesink",
          "'c1.hdr' have 67 bytes, but the header describes 60: the last 7"),
      1);
}

GST_END_TEST
GST_START_TEST (assumptions_are_warned_about_once)
{
  write_text ("c0.hdr",
      "ENVI\nsamples = 5\nlines = 4\nbands = 3\ninterleave = bil\n"
      "data type = 12\nwavelength = {400, 500, 600}\nfwhm = {10}\n");
  write_counting ("c0.img", 0, 2 * N_SAMPLES);
  write_text ("c1.hdr", U16);
  write_counting ("c1.img", 0, 2 * N_SAMPLES);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c%d.hdr loop=true num-buffers=5 ! "
                      "fakesink",
          "'c0.hdr' has no byte order: little endian is assumed"),
      1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c0.hdr ! fakesink",
          "fwhm in the header of 'c0.hdr' is ignored: it should have 3 values"),
      1);
  fail_unless_equals_int (
      count_warnings ("envisrc location=c1.hdr ! fakesink", ""), 0);
}

GST_END_TEST
/* Up to the limit that the documentation states. */
GST_START_TEST (large_headers)
{
  const gsize limit = 16 << 20;
  gchar *text = g_malloc (limit + 2);
  Player player;

  memset (text, ' ', limit + 2);
  for (gsize i = 100; i < limit; i += 100)
    text[i] = '\n';
  memcpy (text, U8, strlen (U8));
  write_counting ("cube.img", 9, N_SAMPLES);
  for (gsize size = 65484; size <= limit;
       size = size == limit ? size + 1 : limit) {
    write_file ("cube.hdr", text, size);
    player = player_new ("envisrc location=cube.hdr" APPSINK);
    fail_unless_equals_int (first_byte (player_pull (&player)), 9);
    player_free (&player);
  }
  write_file ("cube.hdr", text, limit + 1);
  cuv_expect_error ("envisrc location=cube.hdr ! fakesink",
      "the file has more than 16777216 bytes");
  g_free (text);
}

GST_END_TEST
GST_START_TEST (other_file_formats_are_rejected)
{
  static const struct {
    const gchar *start, *name;
  } cases[] = { { "II*\0", "a TIFF image" }, { "MM\0*", "a TIFF image" },
    { "II+\0", "a BigTIFF image" }, { "\211PNG\r\n\032\n", "a PNG image" },
    { "\377\330\377\340", "a JPEG image" },
    { "\211HDF\r\n\032\n", "an HDF5 or netCDF-4 file" },
    { "CDF\002", "a netCDF file" }, { "PK\003\004", "a ZIP archive" },
    { "ENVI\n", "an ENVI header" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint8 bytes[2 * N_SAMPLES] = { 0 };

    memcpy (bytes, cases[i].start, MAX (strlen (cases[i].start), 4));
    write_file ("mine.tif", bytes, sizeof bytes);
    write_text ("mine.hdr", U8);
    cuv_expect_error ("envisrc location=mine.tif ! fakesink", cases[i].name);
  }
  /* accepted with a header offset that skips the foreign header */
  write_text ("mine.hdr", U8 "header offset = 60\n");
  cuv_play ("envisrc location=mine.tif ! fakesink");
}

GST_END_TEST
GST_START_TEST (sequence_with_an_invalid_cube)
{
  write_cube ("c0", 1);
  write_text ("c1.hdr", "ENVI\n");
  write_text ("c1.img", "");
  cuv_expect_error ("envisrc location=c%d.hdr ! fakesink", "c1.hdr");
  cuv_expect_error (
      "envisrc location=c0.hdr ! video/x-spectral,bands=4 ! fakesink",
      "Internal data stream error");
}

GST_END_TEST
static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("envisrc");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, cuv_folder_enter, cuv_folder_leave);
  tcase_add_test (tcase, plain_samples_are_mapped);
  tcase_add_test (tcase, other_samples_are_converted);
  tcase_add_test (tcase, other_file_is_found);
  tcase_add_test (tcase, large_enough_pool_is_used);
  tcase_add_test (tcase, large_cube_is_read_into_a_pool);
  tcase_add_test (tcase, plays_a_sequence);
  tcase_add_test (tcase, sequence_with_a_percent_sign);
  tcase_add_test (tcase, loops);
  tcase_add_test (tcase, seeks);
  tcase_add_test (tcase, seek_sends_no_earlier_cube);
  tcase_add_test (tcase, caps_change_between_cubes);
  tcase_add_test (tcase, restarts);
  tcase_add_test (tcase, header_offset_of_five_gib);
  if (GLIB_SIZEOF_SIZE_T == 8)
    tcase_add_test (tcase, cube_of_five_gib);
  tcase_add_test (tcase, max_bytes_limits_memory);
  tcase_add_test (tcase, errors_name_file_and_cause);
  tcase_add_test (tcase, larger_file_is_warned_about_once);
  tcase_add_test (tcase, assumptions_are_warned_about_once);
  tcase_add_test (tcase, large_headers);
  tcase_add_test (tcase, other_file_formats_are_rejected);
  tcase_add_test (tcase, sequence_with_an_invalid_cube);
  return suite;
}

CUV_ELEMENTS_MAIN (make_suite)
