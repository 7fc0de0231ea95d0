/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-waldboosttrain
 * @title: waldboosttrain
 * @short_description: learns a detector from regions of interest
 *
 * Regions of interest on the frames, drawn by a program, found by a detector or
 * followed by rcdtrack, are the objects to learn; the rest of these frames is
 * background. At the end of the stream, or when the property train is set, a
 * boosted classifier for waldboostdetect is trained and written to a file.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m filesrc location=video.avi ! decodebin ! videoconvert !
 * rcdtrack object-initial-x=646 object-initial-y=242 object-initial-width=36
 * object-initial-height=78 ! waldboosttrain model=person.xml
 * ]| Trains a detector for the object in a box of the first frame.
 *
 * Since: 0.1
 */
#include "config.h"

#include <gst/base/gstbasesink.h>
#include <string.h>

#include "context/gstcuvframe.h"
#include "gstwaldboostcollector.h"
#include "gstwaldboosttrainsettings.h"

GST_DEBUG_CATEGORY_STATIC (waldboost_train_debug);
#define GST_CAT_DEFAULT waldboost_train_debug

/* See CuvTrainParams. These are the defaults of cuvision-train and were not
 * tuned. */
#define MAX_FEATURES 20000
#define REFILL 0.5

G_DECLARE_FINAL_TYPE (
    GstWaldboostTrain, gst_waldboost_train, GST, WALDBOOST_TRAIN, GstBaseSink)
GST_ELEMENT_REGISTER_DECLARE (waldboosttrain)

struct _GstWaldboostTrain {
  GstBaseSink parent;

  GstCuvSettings settings; /* GstWaldboostTrainSettings */
  GstVideoInfo info;       /* used by the streaming thread */

  /* Released while a message is posted. */
  GMutex lock;
  /* signals a change of n_threads or unlocked */
  GCond changed;
  GstWaldboostCollector collector; /* dataset is NULL while stopped */
  gboolean training;               /* a thread uses the roles in the data set */
  guint n_threads;                 /* threads that train or post the result */
  guint n_new;                     /* frames kept since training began */
  guint n_models;                  /* models written */
  gboolean failed;                 /* whether the last training failed */
  gboolean unlocked;
};

#define gst_waldboost_train_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstWaldboostTrain, gst_waldboost_train,
    GST_TYPE_BASE_SINK, G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, NULL))
GST_ELEMENT_REGISTER_DEFINE (waldboosttrain, "waldboosttrain", GST_RANK_NONE,
    gst_waldboost_train_get_type ())

/* clang-format off */
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUV_FRAME_CAPS));
/* clang-format on */

/* ---- settings ---- */

void
gst_waldboost_train_get_stats (GstElement *element, GValue *value)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (element);
  const GstWaldboostCollector *collector = &self->collector;

  g_mutex_lock (&self->lock);
  g_value_take_boxed (value,
      gst_structure_new ("stats", "frames", G_TYPE_UINT64, collector->n_frames,
          "kept", G_TYPE_UINT, collector->n_kept, "objects", G_TYPE_UINT,
          collector->n_objects, "training", G_TYPE_BOOLEAN, self->training,
          "models", G_TYPE_UINT, self->n_models, NULL));
  g_mutex_unlock (&self->lock);
}

/* Returns the choice of frames in the pending settings, which apply to the next
 * frame and to the next training. */
static GstWaldboostChoice
pending_choice (GstWaldboostTrain *self)
{
  const GstWaldboostTrainSettings *pending;
  GstWaldboostChoice choice;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  choice = (GstWaldboostChoice){
    .label = pending->object_class != NULL && *pending->object_class != '\0'
        ? g_quark_from_string (pending->object_class)
        : 0,
    .interval = pending->interval,
    .max_frames = (guint) pending->max_frames,
    .without_regions = pending->negative_frames == GST_WALDBOOST_FRAMES_ALL,
    .features = pending->training.features,
  };
  GST_OBJECT_UNLOCK (self);
  return choice;
}

/* Returns the options of the pending settings; free options.model. */
static GstWaldboostTrainingOptions
pending_options (GstWaldboostTrain *self)
{
  GstWaldboostTrainingOptions options;

  GST_OBJECT_LOCK (self);
  options =
      ((const GstWaldboostTrainSettings *) self->settings.pending)->training;
  options.model = g_strdup (options.model);
  GST_OBJECT_UNLOCK (self);
  options.params.n_features = MAX_FEATURES;
  options.params.refill = REFILL;
  options.params.folder = g_get_tmp_dir ();
  options.samples.seed = options.params.seed;
  return options;
}

/* Posts a message and frees the error. */
static void
post_problem (GstWaldboostTrain *self, GstMessageType type, GError *error)
{
  gst_element_message_full (GST_ELEMENT (self), type, error->domain,
      error->code, g_strdup_printf ("%s.", error->message), NULL, __FILE__,
      GST_FUNCTION, __LINE__);
  g_error_free (error);
}

/* ---- training ---- */

static void
set_train (GstWaldboostTrain *self, gboolean train)
{
  GstWaldboostTrainSettings *pending;

  GST_OBJECT_LOCK (self);
  pending = self->settings.pending;
  pending->train = train;
  GST_OBJECT_UNLOCK (self);
  g_object_notify (G_OBJECT (self), "train");
}

typedef struct {
  GstWaldboostTrain *element;
  GstWaldboostTraining *training;
  GstMessageType severity; /* message type if training fails */
} Job;

static void
job_free (Job *self)
{
  gst_waldboost_training_free (self->training);
  gst_object_unref (self->element);
  g_free (self);
}

/* Posts the result; posts nothing if the element has been stopped. */
static void
job_report (const Job *self, GstStructure *message, GError *error)
{
  GstElement *element = GST_ELEMENT (self->element);

  if (message != NULL)
    gst_element_post_message (
        element, gst_message_new_element (GST_OBJECT (element), message));
  else if (error != NULL)
    post_problem (self->element, self->severity, error);
}

static gpointer
job_run (gpointer data)
{
  Job *job = data;
  GstWaldboostTrain *self = job->element;
  GError *error = NULL;
  GstStructure *message = gst_waldboost_training_run (job->training, &error);

  g_mutex_lock (&self->lock);
  self->training = FALSE;
  self->failed = message == NULL;
  self->n_models += message != NULL;
  g_mutex_unlock (&self->lock);
  set_train (self, FALSE);
  job_report (job, message, error);
  g_mutex_lock (&self->lock);
  self->n_threads--;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  job_free (job);
  return NULL;
}

/* Starts a thread that trains. Call with the lock held. features: kinds of
 * features for which there are enough frames. */
static void
start_job (GstWaldboostTrain *self, gint features, GstMessageType severity)
{
  GstWaldboostTrainingOptions options = pending_options (self);
  Job *job = g_new (Job, 1);

  options.features = features;
  *job = (Job){ gst_object_ref (self),
    gst_waldboost_training_new (
        GST_ELEMENT (self), self->collector.dataset, &options),
    severity };
  cuv_dataset_divide_in_time (self->collector.dataset,
      gst_waldboost_features_keep (features) != CUV_STORE_GREY);
  self->training = TRUE;
  self->n_threads++;
  self->n_new = 0;
  g_thread_unref (g_thread_new ("waldboosttrain", job_run, job));
}

/* Starts training unless the element is stopped or already training. severity:
 * type of the message that is posted if training fails. */
static void
train (GstWaldboostTrain *self, GstMessageType severity)
{
  const GstWaldboostChoice choice = pending_choice (self);
  GError *error = NULL;

  g_mutex_lock (&self->lock);
  if (self->collector.dataset != NULL && !self->training
      && gst_waldboost_collector_has_enough (&self->collector, &choice, &error))
    start_job (self, choice.features, severity);
  g_mutex_unlock (&self->lock);
  if (error == NULL)
    return;
  set_train (self, FALSE);
  post_problem (self, severity, error);
}

static void
gst_waldboost_train_notify (GObject *object, GParamSpec *spec)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (object);
  gboolean is_set;

  if (strcmp (spec->name, "train") != 0)
    return;
  GST_OBJECT_LOCK (self);
  is_set = ((const GstWaldboostTrainSettings *) self->settings.pending)->train;
  GST_OBJECT_UNLOCK (self);
  if (is_set)
    train (self, GST_MESSAGE_WARNING);
}

/* ---- the end of the stream ---- */

/* Waits for the model. Call from the streaming thread with the preroll lock
 * held, which is released while the element is paused. Returns FALSE if the
 * element is flushing. */
static gboolean
wait_for_model (GstWaldboostTrain *self)
{
  gboolean ok = TRUE;

  g_mutex_lock (&self->lock);
  while (ok && self->n_threads > 0) {
    if (!self->unlocked) {
      g_cond_wait (&self->changed, &self->lock);
      continue;
    }
    g_mutex_unlock (&self->lock);
    ok = gst_base_sink_wait_preroll (GST_BASE_SINK (self)) == GST_FLOW_OK;
    g_mutex_lock (&self->lock);
  }
  g_mutex_unlock (&self->lock);
  return ok;
}

static gboolean
has_news (GstWaldboostTrain *self)
{
  gboolean news;

  g_mutex_lock (&self->lock);
  news = self->n_models == 0 || self->failed || self->n_new > 0;
  g_mutex_unlock (&self->lock);
  return news;
}

static gboolean
train_at_end (GstWaldboostTrain *self)
{
  if (!wait_for_model (self))
    return FALSE;
  if (has_news (self))
    train (self, GST_MESSAGE_ERROR);
  return wait_for_model (self);
}

static void
set_unlocked (GstWaldboostTrain *self, gboolean unlocked)
{
  g_mutex_lock (&self->lock);
  self->unlocked = unlocked;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gboolean
gst_waldboost_train_unlock (GstBaseSink *sink)
{
  set_unlocked (GST_WALDBOOST_TRAIN (sink), TRUE);
  return TRUE;
}

static gboolean
gst_waldboost_train_unlock_stop (GstBaseSink *sink)
{
  set_unlocked (GST_WALDBOOST_TRAIN (sink), FALSE);
  return TRUE;
}

/* Writes the model before the message EOS is posted. */
static gboolean
gst_waldboost_train_event (GstBaseSink *sink, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS
      && !train_at_end (GST_WALDBOOST_TRAIN (sink))) {
    gst_event_unref (event);
    return FALSE;
  }
  return GST_BASE_SINK_CLASS (parent_class)->event (sink, event);
}

/* ---- frames ---- */

static GstFlowReturn
gst_waldboost_train_render (GstBaseSink *sink, GstBuffer *buffer)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (sink);
  const GstWaldboostChoice choice = pending_choice (self);
  GError *error = NULL;
  gboolean ends;

  g_mutex_lock (&self->lock);
  self->n_new += gst_waldboost_collector_add (
      &self->collector, buffer, &self->info, &choice, &error);
  g_mutex_unlock (&self->lock);
  if (error == NULL)
    return GST_FLOW_OK;
  ends = !g_error_matches (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  post_problem (self, ends ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING, error);
  return ends ? GST_FLOW_ERROR : GST_FLOW_OK;
}

static gboolean
gst_waldboost_train_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  return gst_cuv_frame_accept_caps (
      GST_ELEMENT (sink), caps, &GST_WALDBOOST_TRAIN (sink)->info);
}

static gboolean
gst_waldboost_train_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* ---- states ---- */

static gboolean
gst_waldboost_train_start (GstBaseSink *sink)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (sink);
  GError *error = NULL;

  if (!gst_cuv_settings_start (&self->settings))
    return FALSE;
  set_train (self, FALSE);
  g_mutex_lock (&self->lock);
  self->n_new = self->n_models = 0;
  self->failed = FALSE;
  gst_waldboost_collector_start (&self->collector, &error);
  g_mutex_unlock (&self->lock);
  if (error == NULL)
    return TRUE;
  gst_cuv_settings_stop (&self->settings);
  post_problem (self, GST_MESSAGE_ERROR, error);
  return FALSE;
}

/* Ends a training that is in progress, without a model. */
static gboolean
gst_waldboost_train_stop (GstBaseSink *sink)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (sink);

  g_mutex_lock (&self->lock);
  g_atomic_int_set (&self->collector.dataset->stop, TRUE);
  while (self->n_threads > 0)
    g_cond_wait (&self->changed, &self->lock);
  gst_waldboost_collector_stop (&self->collector);
  g_mutex_unlock (&self->lock);
  gst_cuv_settings_stop (&self->settings);
  return TRUE;
}

/* ---- class ---- */

static void
gst_waldboost_train_finalize (GObject *object)
{
  GstWaldboostTrain *self = GST_WALDBOOST_TRAIN (object);

  gst_waldboost_collector_clear (&self->collector);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_waldboost_train_class_init (GstWaldboostTrainClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      waldboost_train_debug, "waldboosttrain", 0, "training of a detector");
  object_class->finalize = gst_waldboost_train_finalize;
  object_class->notify = gst_waldboost_train_notify;
  sink_class->start = GST_DEBUG_FUNCPTR (gst_waldboost_train_start);
  sink_class->stop = GST_DEBUG_FUNCPTR (gst_waldboost_train_stop);
  sink_class->unlock = GST_DEBUG_FUNCPTR (gst_waldboost_train_unlock);
  sink_class->unlock_stop = GST_DEBUG_FUNCPTR (gst_waldboost_train_unlock_stop);
  sink_class->set_caps = GST_DEBUG_FUNCPTR (gst_waldboost_train_set_caps);
  sink_class->event = GST_DEBUG_FUNCPTR (gst_waldboost_train_event);
  sink_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_waldboost_train_propose_allocation);
  sink_class->render = GST_DEBUG_FUNCPTR (gst_waldboost_train_render);
  gst_cuv_settings_class_install (object_class, &gst_waldboost_train_settings);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "Boosted detector trainer", "Sink/File/Video",
      "Learns a detector from the regions of interest on frames",
      "The gst-cuvision authors");
}

static void
gst_waldboost_train_init (GstWaldboostTrain *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  gst_waldboost_collector_init (&self->collector);
  gst_cuv_settings_init (&self->settings, self, &gst_waldboost_train_settings);
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  /* the last sample would keep a frame in memory, possibly on the GPU */
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
