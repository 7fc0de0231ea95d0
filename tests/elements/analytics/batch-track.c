/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visiontrack in batches: each stream has the tracks that it has alone. */
#include "config.h"
#include "batches.h"

#define N_STREAMS 3
#define N_FRAMES 40
#define MAX_OBJECTS 3
#define W 640
#define H 360

static GstHarness *
track_harness (const gchar *settings)
{
  g_autofree gchar *line = g_strdup_printf ("visiontrack %s", settings);

  return batch_harness (line);
}

static void
add_object (GstBuffer *frame, guint x)
{
  gst_buffer_add_video_region_of_interest_meta (
      frame, "person", x, 100, 40, 80);
}

/* Returns a frame of a stream. Objects of different streams are at the same
 * place. In each stream an object is hidden for a while. */
static GstBuffer *
film (guint stream, guint number)
{
  GstBuffer *frame = batch_frame (number);

  add_object (frame, 20 + (stream + 4) * number);
  if (number < 8 + stream || number > 12 + 2 * stream)
    add_object (frame, 500 - (stream + 5) * number);
  if (number > 15 - 3 * stream)
    add_object (frame, 300);
  return frame;
}

/* Reads the ids of a frame's objects, 0: none. */
static void
read_ids (GstBuffer *frame, gint64 *ids)
{
  g_autoptr (GArray) objects = objects_of (frame);

  fail_unless (objects->len <= MAX_OBJECTS);
  for (guint i = 0; i < objects->len; i++)
    ids[i] = MAX (nth_object (objects, i).track, 0);
}

static gint64
only_id (GstBuffer *frame)
{
  return MAX (only_object (frame).track, 0);
}

/* ---- as without a batch ---- */

static void
track_alone (guint stream, gint64 ids[N_FRAMES][MAX_OBJECTS])
{
  g_autoptr (GstHarness) h = gst_harness_new_parse ("visiontrack");

  gst_harness_push_event (h, gst_event_new_stream_start ("alone"));
  gst_harness_push_event (h, caps_event (W, H));
  gst_harness_push_event (h, segment_event (0));
  for (guint i = 0; i < N_FRAMES; i++) {
    GstBuffer *frame = push (h, film (stream, i));

    read_ids (frame, ids[i]);
    gst_buffer_unref (frame);
  }
}

/* Returns the next frames of a stream in a list. */
static GstBufferList *
list_of (guint stream, guint first, guint n)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (guint i = 0; i < n; i++)
    gst_buffer_list_add (list, film (stream, first + i));
  return list;
}

/* Pushes batches with one frame of stream 0, two of stream 1 in every other
 * batch, and a list of four of stream 2 in every fourth. */
static void
track_batches (gint64 ids[N_STREAMS][N_FRAMES][MAX_OBJECTS])
{
  g_autoptr (GstHarness) h = track_harness ("");

  for (guint i = 0; i < N_FRAMES; i++) {
    GstBuffer *batch = batch_new (N_STREAMS);

    for (guint k = 0; k < N_STREAMS; k++)
      batch_begin (batch, k, W, H, 0);
    batch_append (batch, 0, film (0, i));
    for (guint k = 0; i % 2 == 0 && k < 2; k++)
      batch_append (batch, 1, film (1, i + k));
    if (i % 4 == 0)
      batch_append (batch, 2, list_of (2, i, 4));
    batch = push (h, batch);
    read_ids (batch_nth (batch, 0, 0), ids[0][i]);
    for (guint k = 0; i % 2 == 0 && k < 2; k++)
      read_ids (batch_nth (batch, 1, k), ids[1][i + k]);
    for (guint k = 0; i % 4 == 0 && k < 4; k++)
      read_ids (
          gst_buffer_list_get (batch_nth (batch, 2, 0), k), ids[2][i + k]);
    gst_buffer_unref (batch);
  }
}

/* Ids in a batch are other numbers for the same tracks; none is used twice. */
CUV_TEST (streams_have_the_tracks_that_they_have_alone)
{
  gint64 alone[N_STREAMS][N_FRAMES][MAX_OBJECTS] = { 0 };
  gint64 batched[N_STREAMS][N_FRAMES][MAX_OBJECTS] = { 0 };
  g_autoptr (GHashTable) tracks = g_hash_table_new (NULL, NULL);
  guint n_ids = 0;

  track_batches (batched);
  for (guint stream = 0; stream < N_STREAMS; stream++) {
    gint64 renamed[64] = { 0 };

    track_alone (stream, alone[stream]);
    for (guint i = 0; i < N_FRAMES * MAX_OBJECTS; i++) {
      const gint64 id = alone[stream][i / MAX_OBJECTS][i % MAX_OBJECTS];
      const gint64 other = batched[stream][i / MAX_OBJECTS][i % MAX_OBJECTS];

      fail_unless (id < 64);
      if (renamed[id] == 0 && id > 0) {
        renamed[id] = other;
        n_ids++;
        fail_unless (g_hash_table_add (tracks, GINT_TO_POINTER (other)));
      }
      ck_assert_int_eq (other, renamed[id]);
    }
  }
  ck_assert_uint_eq (n_ids, 9);
}

/* ---- resets ---- */

/* Two streams with an object each. */
typedef struct {
  GstHarness *h;
  GstBus *bus;
  guint number;
  gint width;          /* of stream 1 */
  GstClockTime start;  /* of its segment */
  const gchar *id;     /* of stream 1 */
  GstEvent *event;     /* before its next frame */
  GstClockTime jump;   /* what its next frames are late */
  gint64 first, other; /* ids in the last batch */
} Pair;

static void
pair_init (Pair *self)
{
  *self = (Pair){ .h = track_harness (""), .width = W, .id = "one" };
  self->bus = cuv_harness_watch (self->h);
}

static void
pair_clear (Pair *self)
{
  cuv_harness_unwatch (self->h, self->bus);
  gst_harness_teardown (self->h);
}

static GstBuffer *
pair_batch (Pair *self)
{
  GstBuffer *batch = batch_new (2);

  for (guint stream = 0; stream < 2; stream++) {
    GstBuffer *frame = batch_frame (self->number);

    add_object (frame, 20);
    batch_stick (
        batch, stream, gst_event_new_stream_start (stream ? self->id : "0"));
    batch_begin (
        batch, stream, stream ? self->width : W, H, stream ? self->start : 0);
    if (stream == 1 && self->event != NULL)
      batch_append (batch, 1, g_steal_pointer (&self->event));
    if (stream == 1) {
      GST_BUFFER_PTS (frame) += self->jump;
      GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
    }
    batch_append (batch, stream, frame);
  }
  self->number++;
  return batch;
}

/* Returns the last object of a stream in a batch. */
static gpointer
last_of (GstBuffer *batch, guint stream)
{
  return batch_nth (batch, stream,
      gst_buffer_get_analytics_batch_meta (batch)->streams[stream].n_objects
          - 1);
}

/* Pushes a batch. Returns whether stream 1 has another track than before; fails
 * the test if stream 0 has. */
static gboolean
pair_push (Pair *self)
{
  GstBuffer *batch = push (self->h, pair_batch (self));
  const gint64 first = only_id (last_of (batch, 0));
  const gint64 before = self->other;

  fail_unless (first > 0 && (self->first == 0 || self->first == first));
  self->first = first;
  self->other = only_id (last_of (batch, 1));
  fail_unless (self->other > 0 && self->other != first);
  gst_buffer_unref (batch);
  return self->other != before;
}

CUV_TEST (a_stream_begins_again_without_the_others)
{
  Pair s;

  pair_init (&s);
  fail_unless (pair_push (&s));
  fail_if (pair_push (&s)); /* the same sticky events */
  s.width = W / 2;
  fail_unless (pair_push (&s));
  s.event = caps_event (W, H);
  fail_unless (pair_push (&s));
  s.width = W;
  fail_if (pair_push (&s));
  s.event = segment_event (GST_SECOND / 100);
  fail_unless (pair_push (&s));
  s.start = GST_SECOND / 100;
  fail_if (pair_push (&s));
  s.id = "another";
  fail_unless (pair_push (&s));
  fail_if (pair_push (&s));
  s.event = gst_event_new_flush_stop (TRUE);
  fail_unless (pair_push (&s));
  s.event = gst_event_new_gap (0, BATCH_FRAME);
  fail_if (pair_push (&s));
  s.jump = 10 * GST_SECOND;
  fail_unless (pair_push (&s));
  fail_if (pair_push (&s));
  pair_clear (&s);
}

CUV_TEST (a_flush_of_the_batch_is_one_of_all_streams)
{
  Pair s;

  pair_init (&s);
  pair_push (&s);
  cuv_harness_flush (s.h);
  s.first = 0;
  fail_unless (pair_push (&s));
  ck_assert_int_eq (s.first, 3);
  ck_assert_int_eq (s.other, 4);
  pair_clear (&s);
}

/* A new segment of the batch is not one of its streams. */
CUV_TEST (segments_of_the_batch_do_not_matter)
{
  Pair s;

  pair_init (&s);
  pair_push (&s);
  gst_harness_push_event (s.h, segment_event (BATCH_FRAME));
  fail_if (pair_push (&s));
  pair_clear (&s);
}

/* ---- the batch ---- */

/* Frames that others have, too, are copied without their pixels. */
CUV_TEST (shared_frames_stay_as_they_are)
{
  for (gint in_list = 0; in_list < 2; in_list++) {
    g_autoptr (GstHarness) h = track_harness ("");
    GstBuffer *batch = batch_new (1), *frame = batch_frame (0), *other,
              *tracked;
    GstBufferList *list = gst_buffer_list_new ();

    add_object (frame, 20);
    batch_begin (batch, 0, W, H, 0);
    if (in_list) {
      gst_buffer_list_add (list, frame);
      batch_append (batch, 0, gst_buffer_list_ref (list));
    } else {
      batch_append (batch, 0, frame);
    }
    gst_buffer_list_unref (list);
    other = gst_buffer_copy (batch);
    batch = push (h, batch);
    tracked = in_list ? gst_buffer_list_get (batch_nth (batch, 0, 0), 0)
                      : batch_nth (batch, 0, 0);
    fail_unless (tracked != frame);
    fail_unless (gst_buffer_peek_memory (tracked, 0)
        == gst_buffer_peek_memory (frame, 0));
    ck_assert_int_eq (only_id (tracked), 1);
    ck_assert_int_eq (only_id (frame), 0);
    gst_buffer_unref (batch);
    gst_buffer_unref (other);
  }
}

CUV_TEST (a_shared_batch_stays_as_it_is)
{
  Pair s;
  GstBuffer *batch, *out;

  pair_init (&s);
  batch = pair_batch (&s);
  out = push (s.h, gst_buffer_ref (batch));
  fail_unless (out != batch);
  ck_assert_int_eq (only_id (last_of (batch, 0)), 0);
  ck_assert_int_eq (only_id (last_of (out, 0)), 1);
  gst_buffer_unref (out);
  gst_buffer_unref (batch);
  pair_clear (&s);
}

/* Only metadata is added; other streams pass, and so do batches without any. */
CUV_TEST (events_and_frames_pass)
{
  g_autoptr (GstHarness) h = track_harness ("");
  GstCaps *audio = gst_caps_from_string ("audio/x-raw, rate=48000");
  GstBuffer *batch = batch_new (3), *frame = batch_frame (0), *sound;
  GstEvent *caps = caps_event (W, H), *gap = gst_event_new_gap (0, BATCH_FRAME);

  add_object (frame, 20);
  sound = gst_buffer_copy (frame);
  batch_append (batch, 0, caps);
  batch_append (batch, 0, frame);
  batch_append (batch, 0, gap);
  batch_stick (batch, 1, gst_event_new_caps (audio));
  batch_append (batch, 1, sound);
  gst_caps_unref (audio);
  batch = push (h, batch);
  fail_unless (batch_nth (batch, 0, 0) == caps);
  fail_unless (batch_nth (batch, 0, 1) == frame);
  fail_unless (batch_nth (batch, 0, 2) == gap);
  fail_unless (batch_nth (batch, 1, 0) == sound);
  ck_assert_int_eq (only_id (frame), 1);
  ck_assert_int_eq (only_id (sound), 0);
  gst_buffer_unref (batch);
  gst_buffer_unref (push (h, gst_buffer_new ()));
}

/* ---- messages and statistics ---- */

CUV_TEST (messages_name_the_stream)
{
  Pair s;

  pair_init (&s);
  s.start = GST_SECOND / 100;
  s.number = 1;
  pair_push (&s);
  for (guint stream = 0; stream < 2; stream++) {
    g_autoptr (GstMessage) message =
        gst_bus_pop_filtered (s.bus, GST_MESSAGE_ELEMENT);
    const GstStructure *structure = gst_message_get_structure (message);
    guint number = 2;
    guint64 time = 0;

    fail_unless (gst_structure_get_uint (structure, "stream", &number));
    fail_unless (gst_structure_get_uint64 (structure, "stream-time", &time));
    ck_assert_uint_eq (number, stream);
    ck_assert_uint_eq (time, BATCH_FRAME - (stream ? s.start : 0));
  }
  pair_clear (&s);
}

CUV_TEST (statistics_are_of_all_streams)
{
  Pair s;
  g_autoptr (GstElement) element = NULL;

  pair_init (&s);
  element = gst_harness_find_element (s.h, "visiontrack");
  pair_push (&s);
  pair_push (&s);
  ck_assert_uint_eq (cuv_stat (element, "frames"), 4);
  ck_assert_uint_eq (cuv_stat (element, "ids"), 2);
  ck_assert_uint_eq (cuv_stat_uint (element, "tracked"), 2);
  s.event = gst_event_new_flush_stop (TRUE);
  pair_push (&s);
  ck_assert_uint_eq (cuv_stat (element, "ids"), 3);
  ck_assert_uint_eq (cuv_stat_uint (element, "tracked"), 2);
  pair_clear (&s);
}
