/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The elements of controls in the pipeline: there at the start, added later,
 * removed. Handlers of signals run in any thread. */
#include "config.h"
#include "controls/controls-private.h"
#include "controls/settings.h"
#include "controls/texts.h"
#include "launch/launch.h"

/* Warnings that wait for the thread; further ones are dropped. */
#define MAX_WARNINGS 32

typedef struct {
  CuvControls *controls;
  CuvControl *control;
} Watch;

static void
watch_free (gpointer data, GClosure *closure)
{
  Watch *self = data;

  cuv_controls_unref (self->controls);
  g_free (self);
}

static void
controls_unref (gpointer data, GClosure *closure)
{
  cuv_controls_unref (data);
}

static gulong
connect (
    CuvControls *self, gpointer object, const gchar *signal, GCallback handler)
{
  return g_signal_connect_data (object, signal, handler,
      cuv_controls_ref (self), controls_unref, (GConnectFlags) 0);
}

/* ---- connecting an element ---- */

/* The value is read later, in the thread: the element may hold locks now. */
static void
on_notify (GObject *object, GParamSpec *spec, gpointer data)
{
  Watch *watch = data;

  g_mutex_lock (&watch->controls->lock);
  if (!watch->control->changed)
    g_cond_broadcast (&watch->controls->cond);
  watch->control->changed = TRUE;
  g_mutex_unlock (&watch->controls->lock);
}

static gulong
connect_notify (CuvControls *self, CuvControl *control,
    CuvControlTarget *target, GstElement *element)
{
  gchar *signal;
  Watch *watch;
  gulong handler;

  if (target->property == NULL)
    return 0;
  signal = g_strconcat ("notify::", target->property->name, NULL);
  watch = g_new (Watch, 1);
  *watch = (Watch){ cuv_controls_ref (self), control };
  handler = g_signal_connect_data (element, signal, G_CALLBACK (on_notify),
      watch, watch_free, (GConnectFlags) 0);
  g_free (signal);
  return handler;
}

static void
drop_target (CuvControlTarget *target, gulong handler)
{
  GstElement *element = g_weak_ref_get (&target->element);

  if (element != NULL && handler != 0)
    g_signal_handler_disconnect (element, handler);
  gst_clear_object (&element);
  cuv_control_target_unref (target);
}

/* Requests that the control gets its value of settings-file, if it has one and
 * no newer request. Returns NULL, or why not. Call with the lock held. */
static gchar *
take_saved (CuvControls *self, CuvControl *control)
{
  gchar *problem = NULL;

  if (control->saved == NULL || control->values != NULL)
    return NULL;
  if (control->target->property == NULL)
    problem = g_strdup ("it is a signal, which has no value");
  else
    control->values =
        cuv_control_target_parse (control->target, control->saved, &problem);
  if (problem == NULL) {
    control->client = 0;
    self->n_loading++;
    return NULL;
  }
  return cuv_control_settings_problem (self, control, problem);
}

/* Returns NULL, or why the element cannot be the one that teach names. */
static gchar *
detector_problem (const gchar *name, GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *kind = factory != NULL ? GST_OBJECT_NAME (factory)
                                      : G_OBJECT_TYPE_NAME (element);

  return g_str_equal (kind, "waldboostdetect")
      ? NULL
      : g_strdup_printf (
          "teach=%s is the name of another element (%s): set it to the name "
          "of the waldboostdetect that gets the models",
          name, kind);
}

/* Connects a control to an element, unless it has one. Returns NULL, or why it
 * cannot work. */
static gchar *
connect_control (CuvControls *self, CuvControl *control, GstElement *element)
{
  gchar *problem, *text = NULL;
  CuvControlTarget *target;
  gulong handler;
  gboolean used;

  if (control >= self->list + self->n)
    text = detector_problem (control->element, element);
  if (text != NULL)
    return text;
  target = cuv_control_target_new (element, control->member, &problem);
  if (target == NULL) {
    text =
        g_strdup_printf ("%s cannot be a control: %s", control->name, problem);
    g_free (problem);
    return text;
  }
  handler = connect_notify (self, control, target, element);
  g_mutex_lock (&self->lock);
  used = control->target == NULL && !self->stopping;
  if (used) {
    control->target = target;
    control->handler = handler;
    text = take_saved (self, control);
    cuv_controls_describe (self);
  }
  g_mutex_unlock (&self->lock);
  if (!used)
    drop_target (target, handler);
  return text;
}

/* ---- the pipeline ---- */

void
cuv_controls_warn (CuvControls *self, gchar *problem)
{
  GstElement *sink = NULL;

  g_mutex_lock (&self->lock);
  if (self->sink != NULL)
    sink = gst_object_ref (self->sink);
  g_mutex_unlock (&self->lock);
  if (sink != NULL) {
    GST_ELEMENT_WARNING (sink, LIBRARY, SETTINGS, ("%s.", problem), (NULL));
    gst_object_unref (sink);
  }
  g_free (problem);
}

static void
on_added (GstBin *bin, GstBin *parent, GstElement *element, gpointer data)
{
  CuvControls *self = data;
  gchar *name = gst_object_get_name (GST_OBJECT (element));

  for (guint i = 0; i < self->n_all; i++) {
    gchar *problem = g_str_equal (self->list[i].element, name)
        ? connect_control (self, &self->list[i], element)
        : NULL;

    if (problem != NULL)
      cuv_controls_warn (self, problem);
  }
  g_free (name);
}

/* Returns the control's target if element is NULL or the target's element, and
 * removes it from the control. */
static CuvControlTarget *
take_target (CuvControls *self, CuvControl *control, GstElement *element,
    gulong *handler)
{
  CuvControlTarget *target = NULL;
  GstElement *own = NULL;

  g_mutex_lock (&self->lock);
  if (control->target != NULL) {
    own = g_weak_ref_get (&control->target->element);
    if (element == NULL || own == element) {
      target = g_steal_pointer (&control->target);
      *handler = control->handler;
      cuv_controls_describe (self);
    }
  }
  g_mutex_unlock (&self->lock);
  gst_clear_object (&own);
  return target;
}

/* Disconnects all controls of an element; NULL: of all elements. */
static void
disconnect_element (CuvControls *self, GstElement *element)
{
  for (guint i = 0; i < self->n_all; i++) {
    gulong handler;
    CuvControlTarget *target =
        take_target (self, &self->list[i], element, &handler);

    if (target != NULL)
      drop_target (target, handler);
  }
}

static void
on_removed (GstBin *bin, GstBin *parent, GstElement *element, gpointer data)
{
  disconnect_element (data, element);
}

/* ---- warnings ---- */

static gboolean
has_control (const CuvControls *self, const gchar *element)
{
  for (guint i = 0; i < self->n_all; i++)
    if (g_str_equal (self->list[i].element, element))
      return TRUE;
  return FALSE;
}

/* A warning that an element posts while the thread sets its property says why
 * the value was refused. Others are for all pages. */
static void
on_warning (GstBus *bus, GstMessage *message, gpointer data)
{
  CuvControls *self = data;
  const gchar *element = GST_MESSAGE_SRC_NAME (message);
  GError *error = NULL;

  if (element == NULL || !has_control (self, element))
    return;
  gst_message_parse_warning (message, &error, NULL);
  g_mutex_lock (&self->lock);
  if (self->acting != NULL && g_thread_self () == self->thread
      && g_str_equal (self->acting->element, element)) {
    g_free (self->reason);
    self->reason = g_strdup (error->message);
  } else if (self->warnings.length < MAX_WARNINGS) {
    g_queue_push_tail (
        &self->warnings, cuv_control_text_warning (element, error->message));
    g_cond_broadcast (&self->cond);
  }
  g_mutex_unlock (&self->lock);
  g_error_free (error);
}

/* Elements that are not started yet take any value, and may fail at the start.
 */
static void
on_error (GstBus *bus, GstMessage *message, gpointer data)
{
  CuvControls *self = data;
  GstObject *source = GST_MESSAGE_SRC (message);

  if (!GST_IS_ELEMENT (source) || GST_STATE (source) >= GST_STATE_PAUSED)
    return;
  for (guint i = 0; i < self->n; i++) {
    const CuvControl *control = &self->list[i];

    if (control->saved != NULL
        && g_strcmp0 (control->element, GST_OBJECT_NAME (source)) == 0) {
      cuv_controls_warn (self,
          g_strdup_printf ("%s fails to start, and %s is from settings-file "
                           "'%s': if that is the cause, correct it there",
              control->element, control->name, self->settings_file));
      return;
    }
  }
}

/* ---- entering and leaving ---- */

/* Returns the outermost parent, to be unreffed. */
static GstObject *
top_level (GstElement *element)
{
  GstObject *top = gst_object_ref (element), *parent;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  return top;
}

static void
watch_bin (CuvControls *self, GstBin *bin)
{
  g_weak_ref_set (&self->bin, bin);
  self->added =
      connect (self, bin, "deep-element-added", G_CALLBACK (on_added));
  self->removed =
      connect (self, bin, "deep-element-removed", G_CALLBACK (on_removed));
  self->bus = gst_element_get_bus (GST_ELEMENT (bin));
  if (self->bus == NULL)
    return;
  gst_bus_enable_sync_message_emission (self->bus);
  self->warned = connect (
      self, self->bus, "sync-message::warning", G_CALLBACK (on_warning));
  self->failed =
      connect (self, self->bus, "sync-message::error", G_CALLBACK (on_error));
}

gchar *
cuv_controls_enter (CuvControls *self)
{
  GstObject *top = top_level (self->sink);
  gchar *problem = NULL;

  if (GST_IS_BIN (top))
    watch_bin (self, GST_BIN (top));
  for (guint i = 0; i < self->n_all && problem == NULL && GST_IS_BIN (top);
       i++) {
    GstElement *element =
        gst_bin_get_by_name (GST_BIN (top), self->list[i].element);

    if (element != NULL)
      problem = connect_control (self, &self->list[i], element);
    gst_clear_object (&element);
  }
  gst_object_unref (top);
  return problem;
}

void
cuv_controls_leave (CuvControls *self)
{
  GstElement *bin = g_weak_ref_get (&self->bin);

  if (bin != NULL) {
    g_signal_handler_disconnect (bin, self->added);
    g_signal_handler_disconnect (bin, self->removed);
    gst_object_unref (bin);
  }
  if (self->bus != NULL) {
    g_signal_handler_disconnect (self->bus, self->warned);
    g_signal_handler_disconnect (self->bus, self->failed);
    gst_bus_disable_sync_message_emission (self->bus);
  }
  gst_clear_object (&self->bus);
  disconnect_element (self, NULL);
}

gchar *
cuv_controls_missing (CuvControls *self)
{
  GString *text = g_string_new (NULL);

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n; i++)
    if (self->list[i].target == NULL)
      g_string_append_printf (text, "%s%s",
          text->len > 0 ? ", " : "The pipeline has no element for controls: ",
          self->list[i].name);
  if (text->len > 0)
    g_string_append (text,
        ". They work when elements of these names are added; otherwise correct "
        "the names.");
  if (self->n_all > self->n && self->list[self->n].target == NULL)
    g_string_append_printf (text,
        "%steach=%s: the pipeline has no element of this name. Set it to the "
        "name of the waldboostdetect that gets the models, which may be added "
        "later.",
        text->len > 0 ? " " : "", self->list[self->n].element);
  g_mutex_unlock (&self->lock);
  return g_string_free (text, text->len == 0);
}

gchar *
cuv_controls_line (CuvControls *self)
{
  GstElement *bin = g_weak_ref_get (&self->bin);
  gchar *text, *notes, **lines;
  GString *line;

  if (bin == NULL)
    return NULL;
  text = gst_cuv_launch_text (GST_BIN (bin), &notes);
  gst_object_unref (bin);
  line = g_string_new (text);
  lines = g_strsplit (notes != NULL ? notes : "", "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_string_append_printf (line, "\n# %s", lines[i]);
  g_strfreev (lines);
  g_free (notes);
  g_free (text);
  return g_string_free (line, FALSE);
}
