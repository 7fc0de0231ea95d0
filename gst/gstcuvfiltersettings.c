/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "gstcuvfiltersettings.h"

#define DEFAULT_INFERENCE_INTERVAL 1
#define DEFAULT_HOLD_RESULTS FALSE
#define DEFAULT_SKIP_LATE TRUE
#define DEFAULT_N_THREADS 0
#define DEFAULT_MESSAGE GST_CUV_MESSAGE_ON_CHANGE
#define DEFAULT_STATS_INTERVAL 0

enum {
  PROP_INFERENCE_INTERVAL = GST_CUV_FILTER_PROP_STATS + 1,
  PROP_HOLD_RESULTS,
  PROP_SKIP_LATE,
  PROP_N_THREADS,
  PROP_MESSAGE,
  PROP_STATS_INTERVAL,
};

#define GST_TYPE_CUV_MESSAGE (gst_cuv_message_get_type ())
static GType
gst_cuv_message_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CUV_MESSAGE_NONE, "Post no message", "none" },
    { GST_CUV_MESSAGE_ON_CHANGE, "Post one when the results change",
        "on-change" },
    { GST_CUV_MESSAGE_EVERY_FRAME, "Post one for every analysed frame",
        "every-frame" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCuvMessage", values));
  return type;
}

void
gst_cuv_filter_settings_init (GstCuvFilterSettings *self)
{
  self->inference_interval = DEFAULT_INFERENCE_INTERVAL;
  self->hold_results = DEFAULT_HOLD_RESULTS;
  self->skip_late = DEFAULT_SKIP_LATE;
  self->n_threads = DEFAULT_N_THREADS;
  self->message = DEFAULT_MESSAGE;
  self->stats_interval = DEFAULT_STATS_INTERVAL;
}

gboolean
gst_cuv_filter_settings_set (
    GstCuvFilterSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case PROP_INFERENCE_INTERVAL:
      self->inference_interval = g_value_get_uint (value);
      return TRUE;
    case PROP_HOLD_RESULTS:
      self->hold_results = g_value_get_boolean (value);
      return TRUE;
    case PROP_SKIP_LATE:
      self->skip_late = g_value_get_boolean (value);
      return TRUE;
    case PROP_N_THREADS:
      self->n_threads = g_value_get_int (value);
      return TRUE;
    case PROP_MESSAGE:
      self->message = g_value_get_enum (value);
      return TRUE;
    case PROP_STATS_INTERVAL:
      self->stats_interval = g_value_get_uint (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_cuv_filter_settings_get (
    const GstCuvFilterSettings *self, guint id, GValue *value)
{
  switch (id) {
    case PROP_INFERENCE_INTERVAL:
      g_value_set_uint (value, self->inference_interval);
      return TRUE;
    case PROP_HOLD_RESULTS:
      g_value_set_boolean (value, self->hold_results);
      return TRUE;
    case PROP_SKIP_LATE:
      g_value_set_boolean (value, self->skip_late);
      return TRUE;
    case PROP_N_THREADS:
      g_value_set_int (value, self->n_threads);
      return TRUE;
    case PROP_MESSAGE:
      g_value_set_enum (value, self->message);
      return TRUE;
    case PROP_STATS_INTERVAL:
      g_value_set_uint (value, self->stats_interval);
      return TRUE;
    default:
      return FALSE;
  }
}

void
gst_cuv_filter_settings_install (GObjectClass *klass)
{
  /**
   * GstCuvFilter:inference-interval:
   *
   * Every how many frames one is analysed; 1 = every frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_INFERENCE_INTERVAL,
      g_param_spec_uint ("inference-interval", "Inference interval",
          "Analyse every Nth frame", 1, G_MAXUINT, DEFAULT_INFERENCE_INTERVAL,
          GST_CUV_PARAM_TUNABLE));
  /**
   * GstCuvFilter:hold-results:
   *
   * Attach the last results, with their age, to frames that pass unanalysed.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_HOLD_RESULTS,
      g_param_spec_boolean ("hold-results", "Hold results",
          "Repeat the last results, with their age, on unanalysed frames",
          DEFAULT_HOLD_RESULTS, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:skip-late:
   *
   * Let frames pass unanalysed that come, or would leave, too late: live ones
   * that were captured while an earlier one was analysed or that the sink
   * should have shown by now, and those before the time the sink asked for.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_SKIP_LATE,
      g_param_spec_boolean ("skip-late", "Skip late frames",
          "Let late frames pass unanalysed", DEFAULT_SKIP_LATE,
          GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:n-threads:
   *
   * Threads for work on the CPU, 0 = one per processor. Results are the same
   * for every number.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_N_THREADS,
      g_param_spec_int ("n-threads", "Threads",
          "Threads for work on the CPU (0 = one per processor)", 0, 1024,
          DEFAULT_N_THREADS, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:message:
   *
   * When to post an element message, named after the element, with the
   * results.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MESSAGE,
      g_param_spec_enum ("message", "Message",
          "When to post results as an element message", GST_TYPE_CUV_MESSAGE,
          DEFAULT_MESSAGE, GST_CUV_PARAM_LIVE));
  /**
   * GstCuvFilter:stats-interval:
   *
   * Post the statistics, as an element message named after the element with
   * "-stats", every so many analysed frames; 0 = never.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_STATS_INTERVAL,
      g_param_spec_uint ("stats-interval", "Statistics interval",
          "Post the statistics every N analysed frames (0 = never)", 0,
          G_MAXUINT, DEFAULT_STATS_INTERVAL, GST_CUV_PARAM_TUNABLE));
  /**
   * GstCuvFilter:stats:
   *
   * frames, analysed, skipped, skipped-late (guint64), device (cuda or cpu),
   * microseconds and microseconds-mean (guint64, of the analysis), and the
   * element's own counts.
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, GST_CUV_FILTER_PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "What the element did",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_type_mark_as_plugin_api (GST_TYPE_CUV_MESSAGE, 0);
}
