/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "encoder.h"

#include <pthread.h>

#include "picture.h"
#include "record/record.h"

/* Lower limit of the frame rate, in frames per second. */
#define MIN_RATE 1e-6

struct _CuvWebEncoder {
  CuvWebStream *stream;
  CuvWebWarn warn;
  CuvWebMade made;
  gpointer data;
  GThread *thread; /* NULL: not started */

  GMutex lock;
  GCond cond;
  gboolean stopping;
  CuvWebInput newest; /* its buffer is NULL if there is none */
  gchar *source;      /* source of newest */
  guint64 serial;     /* serial of newest */
  guint64 taken;      /* number of the input that the thread took last */
  CuvWebEncoderCounts counts;

  /* used by the thread only */
  CuvPicture picture;
  CuvJson json;
  GArray *objects; /* GstCuvObject */
  gint64 last;     /* monotonic time at which the last frame was due */
  gboolean failing;
};

CuvWebEncoder *
cuv_web_encoder_new (CuvWebWarn warn, CuvWebMade made, gpointer data)
{
  CuvWebEncoder *self = g_new0 (CuvWebEncoder, 1);

  self->warn = warn;
  self->made = made;
  self->data = data;
  self->taken = G_MAXUINT64;
  self->picture.gpu = cuv_gpu_picture_new (GST_ELEMENT (data));
  self->objects = g_array_new (FALSE, FALSE, sizeof (GstCuvObject));
  cuv_json_init (&self->json);
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  return self;
}

void
cuv_web_encoder_free (CuvWebEncoder *self)
{
  cuv_web_encoder_flush (self);
  cuv_picture_clear (&self->picture);
  cuv_gpu_picture_free (self->picture.gpu);
  cuv_json_clear (&self->json);
  g_array_unref (self->objects);
  g_cond_clear (&self->cond);
  g_mutex_clear (&self->lock);
  g_free (self->source);
  g_free (self);
}

/* ---- functions for other threads ---- */

void
cuv_web_encoder_flush (CuvWebEncoder *self)
{
  GstBuffer *buffer;

  g_mutex_lock (&self->lock);
  buffer = g_steal_pointer (&self->newest.buffer);
  self->taken = G_MAXUINT64; /* buffer numbers may start from 0 again */
  g_mutex_unlock (&self->lock);
  gst_clear_buffer (&buffer);
}

/* Releases the previous buffer without the lock, since freeing it may take
 * long. */
void
cuv_web_encoder_offer (CuvWebEncoder *self, const CuvWebInput *input)
{
  GstBuffer *before;
  gboolean wanted;

  g_mutex_lock (&self->lock);
  /* checked with the lock held: if the last viewer leaves after this, the flush
   * comes after it, too */
  wanted = cuv_web_stream_viewers (self->stream) > 0
      && !(input->again && input->number == self->taken);
  before = g_steal_pointer (&self->newest.buffer);
  if (wanted) {
    self->counts.skipped += before != NULL;
    self->newest = *input;
    self->serial = cuv_web_stream_announce (self->stream);
    gst_buffer_ref (input->buffer);
    if (g_strcmp0 (self->source, input->source) != 0) {
      g_free (self->source);
      self->source = g_strdup (input->source);
    }
  }
  g_mutex_unlock (&self->lock);
  if (wanted)
    g_cond_signal (&self->cond);
  gst_clear_buffer (&before);
}

void
cuv_web_encoder_wake (CuvWebEncoder *self)
{
  g_mutex_lock (&self->lock);
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
}

void
cuv_web_encoder_get_counts (CuvWebEncoder *self, CuvWebEncoderCounts *counts)
{
  g_mutex_lock (&self->lock);
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
}

/* ---- the thread ---- */

static void
write_record (CuvWebEncoder *self, const CuvWebInput *input)
{
  const CuvRecordFrame frame = {
    .number = input->number,
    .stream_time = input->stream_time,
    .wallclock = input->wallclock,
    .width = GST_VIDEO_INFO_WIDTH (&input->info),
    .height = GST_VIDEO_INFO_HEIGHT (&input->info),
    .source = input->source,
    .objects = self->objects,
    .captured = cuv_record_captured (input->buffer),
  };

  gst_cuv_objects_read (self->objects, input->buffer);
  cuv_record_to_json_with_shapes (&self->json, &frame, input->buffer);
}

/* Warns about a frame that failed, unless the previous one failed as well.
 * Frees problem. */
static void
take_problem (CuvWebEncoder *self, gchar *problem)
{
  if (!self->failing)
    self->warn (self->data, problem);
  self->failing = TRUE;
  g_free (problem);
}

static void
encode (CuvWebEncoder *self, const CuvWebInput *input, guint64 serial)
{
  gint64 start = g_get_monotonic_time ();
  gsize jpeg_size, record_size;
  gchar *problem = cuv_picture_encode (&self->picture, &input->info,
      input->buffer, input->max_width, input->quality, &jpeg_size);
  CuvWebFrame *frame;
  gchar *record;

  if (problem != NULL) {
    take_problem (self, problem);
    return;
  }
  self->failing = FALSE;
  write_record (self, input);
  record = cuv_json_steal (&self->json, &record_size);
  /* counted first: a viewer that has the frame finds it in the counts */
  g_mutex_lock (&self->lock);
  self->counts.encoded++;
  self->counts.us += (guint64) (g_get_monotonic_time () - start);
  g_mutex_unlock (&self->lock);
  frame = cuv_web_frame_new (
      serial, record, record_size, self->picture.jpeg, jpeg_size);
  self->made (self->data, input, frame);
  cuv_web_stream_publish (self->stream, frame);
  g_free (record);
}

static gint64
interval_of (gdouble max_rate)
{
  return max_rate > 0 ? (gint64) (G_USEC_PER_SEC / MAX (max_rate, MIN_RATE))
                      : 0;
}

/* Sets when the frame was due, for the average rate: one that was late by less
 * than an interval does not delay the next one. */
static void
set_last (CuvWebEncoder *self, gdouble max_rate)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 interval = interval_of (max_rate);
  const gint64 due = self->last + interval;

  self->last = now - due < interval ? due : now;
}

/* Call with the lock held. */
static gboolean
encoder_is_wanted (CuvWebEncoder *self)
{
  return self->newest.buffer != NULL
      && cuv_web_stream_waiting (self->stream) > 0;
}

/* Call with the lock held. Returns FALSE if the thread must quit. */
static gboolean
wait_for_input (CuvWebEncoder *self)
{
  while (!self->stopping) {
    const gint64 due = self->last + interval_of (self->newest.max_rate);

    if (!encoder_is_wanted (self))
      g_cond_wait (&self->cond, &self->lock);
    else if (g_get_monotonic_time () >= due)
      return TRUE;
    else
      g_cond_wait_until (&self->cond, &self->lock, due);
  }
  return FALSE;
}

/* Selects batch scheduling: otherwise the kernel may run this thread on the
 * core of the thread that woke it, and render() would wait while a picture is
 * compressed. */
static void
be_patient (void)
{
  const struct sched_param param = { 0 };

  pthread_setschedparam (pthread_self (), SCHED_BATCH, &param);
}

static gpointer
encoder_run (gpointer data)
{
  CuvWebEncoder *self = data;

  be_patient ();
  g_mutex_lock (&self->lock);
  while (wait_for_input (self)) {
    CuvWebInput input = self->newest;
    gchar *source = g_strdup (self->source);
    const guint64 serial = self->serial;

    self->newest.buffer = NULL;
    self->taken = input.number;
    g_mutex_unlock (&self->lock);
    input.source = source;
    set_last (self, input.max_rate);
    encode (self, &input, serial);
    gst_buffer_unref (input.buffer);
    g_free (source);
    g_mutex_lock (&self->lock);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

void
cuv_web_encoder_start (CuvWebEncoder *self, CuvWebStream *stream)
{
  self->stream = stream;
  self->last = G_MININT64 / 2;
  self->thread = g_thread_new ("visionwebsink-jpeg", encoder_run, self);
}

void
cuv_web_encoder_stop (CuvWebEncoder *self)
{
  if (self->thread == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_signal (&self->cond);
  g_mutex_unlock (&self->lock);
  g_thread_join (g_steal_pointer (&self->thread));
}
